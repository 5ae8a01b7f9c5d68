import CommandWords
import SharedSpace

/// How long `--wait` waits.
enum WaitLimit: ExpressibleByArgument, CustomStringConvertible, Sendable {
    case duration(Duration)
    case unlimited

    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self = .duration(duration)
    }

    static func resembles(_ word: String) -> Bool { DurationText.resembles(word) }
    static var forms: String? { DurationText.forms }
    var defaultValueDescription: String { description }

    /// The duration, or `nil` to wait indefinitely.
    var timeout: Duration? {
        switch self {
        case .duration(let duration): duration
        case .unlimited: nil
        }
    }

    var description: String { timeout.map { "\($0)" } ?? "no limit" }
}

extension ArgumentHelp {
    /// The help of `--wait [D]`.
    static let wait: ArgumentHelp =
        "<duration> Wait until there is one. A duration is \(DurationText.forms); 0 tries once."
}
