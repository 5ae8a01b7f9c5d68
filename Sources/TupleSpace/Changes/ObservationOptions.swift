import TupleCoding

/// What an observation is told besides that something changed.
public struct ObservationOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes options of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// At first, what is there: a call for each tuple and cell that the observation is about, with ``Change/isPresent``.
    ///
    /// Tuples come as `write`, oldest first, then cells as `set`; of one cell that is not set, a call of kind `unset`. They are
    /// those of one moment, the registration, and each change after it comes once: so a copy that is kept by what is told equals
    /// the namespace. They are read bit by bit, as the handler returns; should the journal not hold all that has
    /// happened since the registration by the time the last of it is read, a gap says so, and a copy is to be begun anew.
    public static let initial = ObservationOptions(rawValue: 1)
    /// The value before a change.
    public static let old = ObservationOptions(rawValue: 2)
    /// The value after a change.
    public static let new = ObservationOptions(rawValue: 4)
    /// Two calls for each change: one with ``Change/isPrior`` and the old value at most, then one as without this option.
    ///
    /// Between processes nobody is asked before a change: it is committed when the first call comes, and the cell may hold
    /// the new value, or one later still. The two calls come one right after the other, so that what is derived from
    /// the old value can be undone before the new one is taken up.
    public static let prior = ObservationOptions(rawValue: 8)
}

extension ChangeFilter {
    /// What happens to a cell, or with a path (`"user.name"`) to a part of its value.
    public static func cell(_ key: String) -> ChangeFilter { ChangeFilter(cells: .key(key)) }

    /// What happens to all cells.
    public static var cells: ChangeFilter { ChangeFilter(cells: .all) }

    /// What happens to the tuples that match.
    public static func tuples(_ template: Template) -> ChangeFilter { ChangeFilter(tuples: template) }

    /// The notifications of a name.
    public static func notification(_ name: String) -> ChangeFilter { ChangeFilter(notifications: .named(name)) }

    /// All notifications.
    public static var notifications: ChangeFilter { ChangeFilter(notifications: .all) }
}
