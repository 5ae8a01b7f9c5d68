/// The failure of a command: its exit status, and a message for people.
struct CommandFailure: Error {
    let status: ExitStatus
    /// The message; `nil` if the status says it all, as when nothing matched.
    let message: String?
    /// Whether the status says that nothing was obtained; `--quiet` leaves out the message then.
    let isOfNothing: Bool

    init(_ status: ExitStatus, _ message: String?, isOfNothing: Bool = false) {
        self.status = status
        self.message = message
        self.isOfNothing = isOfNothing || status == .nothing
    }

    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }

    static func badData(_ message: String) -> CommandFailure { CommandFailure(.badData, message) }
}
