import ArgumentParser

/// How long `--wait` waits.
enum WaitLimit: ExpressibleByArgument, CustomStringConvertible, Sendable {
    case duration(Duration)
    case unlimited

    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self = .duration(duration)
    }

    var description: String {
        switch self {
        case .duration(let duration): "\(duration)"
        case .unlimited: "no limit"
        }
    }
}
