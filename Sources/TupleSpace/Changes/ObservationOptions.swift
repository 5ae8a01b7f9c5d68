/// The content of an observation's calls.
public struct ObservationOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes options from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Delivers the initial contents first: a call for each tuple and cell that the filter lets through, with
    /// ``Change/isPresent``.
    ///
    /// Tuples come as `write`, oldest first, then cells as `set`; if the observation is of one cell that is not set, a
    /// call of kind `unset` comes. They are the contents at one moment, that of the registration, and each later change
    /// comes once. So a copy that the handler builds from the calls equals the namespace. The contents are read slice
    /// by slice, each after the handler has returned. If the journal has dropped changes since the registration before
    /// the last slice is read, a gap says so, and the handler has to build its copy again.
    public static let initial = ObservationOptions(rawValue: 1)
    /// The value before a change.
    public static let old = ObservationOptions(rawValue: 2)
    /// The value after a change.
    public static let new = ObservationOptions(rawValue: 4)
    /// Makes two calls for each change: first one with ``Change/isPrior`` and at most the old value, then the usual
    /// one.
    ///
    /// A process cannot be asked before another process makes a change: the change is committed when the first call
    /// comes, and the cell may hold the new value or a later one. The two calls come one right after the other, so
    /// that a handler can undo what it derived from the old value before it uses the new one.
    public static let prior = ObservationOptions(rawValue: 8)
}
