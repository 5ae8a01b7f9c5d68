import TupleCoding

/// How an observer of an ordered set, or of a dictionary, is told of its changes.
public struct CollectionObservationOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes options of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// At first, a reset with what was there at the registration; no change that it holds is told again, and each later one is
    /// told as what it is.
    public static let initial = CollectionObservationOptions(rawValue: 1)
    /// Moves and exchanges as removals and insertions, for observers that know no moves.
    public static let movesAsPairs = CollectionObservationOptions(rawValue: 2)
}
