import CommandWords
import SharedSpace

/// A history on the command line: a number of changes, and after a comma one of bytes.
struct HistoryArgument: ExpressibleByArgument, Sendable {
    let history: History

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count <= 2, let changes = numbers[0], numbers.count == 1 || numbers[1] != nil else { return nil }
        history = History(changes: changes, bytes: numbers.count == 2 ? numbers[1] : nil)
    }
}
