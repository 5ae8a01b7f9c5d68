import CommandWords
import SharedSpace
import SpaceSystem

/// The command `space wait NS [--gone] [D]`.
struct WaitCommand: ParsableCommand {
    static let commandName = "wait"
    static let configuration = CommandConfiguration(
        abstract: "Wait until a namespace exists, or is gone.",
        discussion: """
            Without a duration there is no limit. The status is 1 when time passed.

            EXAMPLES:
              space wait server 10s && space get server port
              space wait jobs --gone
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?

    @Flag(help: "Wait until it is gone.")
    var gone = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "How long at most: \(DurationText.forms).")
    var duration: Duration?

    func run() throws {
        let deadline = MonotonicInstant.deadline(after: duration) ?? .distantFuture
        let existence = Existence(space: try common.space(), name: namespace)
        guard try existence.wait(for: gone ? .gone : .existing, until: deadline) else { throw status.nothingObtained }
    }
}
