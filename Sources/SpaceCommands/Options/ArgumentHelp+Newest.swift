import CommandWords
import SharedSpace

extension ArgumentHelp {
    static let newest: ArgumentHelp = "The newest first."
}

extension MatchOrder {
    /// The order that `--newest` asks for, or that of its absence.
    init(newest: Bool) { self = newest ? .newestFirst : .oldestFirst }
}
