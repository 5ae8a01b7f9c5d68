/// Options for observers of an ordered set or a dictionary.
public struct CollectionObservationOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes options from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reports the state at the registration first, as a reset; each later change is then reported once, as the edit
    /// that it is.
    public static let initial = CollectionObservationOptions(rawValue: 1)
    /// Reports moves and exchanges as removals and insertions, for observers that don't know moves.
    public static let movesAsPairs = CollectionObservationOptions(rawValue: 2)
}
