import CommandWords
import SharedSpace

/// A duration on the command line.
struct DurationArgument: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self.duration = duration
    }

    static var forms: String? { DurationText.forms }
}
