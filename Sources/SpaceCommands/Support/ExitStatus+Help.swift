extension ExitStatus {
    /// The statuses of `space` and what they mean.
    ///
    /// The help and the manual pages have their lists from here alone.
    private static let meanings: [(status: ExitStatus, meaning: String)] = [
        (.done, "done"),
        (.nothing, "nothing matched, not obtained, the compare failed, or time passed"),
        (.usage, "wrong usage"),
        (.badData, "bad data: JSON, template or name"),
        (.unavailable, "no such namespace, or not usable: version, mode, PID namespace"),
        (.internal, "an internal error"),
        (.inputOutput, "storage: full, or an input or output error"),
        (.tryAgain, "try again: another process, which is named, holds the lock for writing, or a claim was lost"),
        (.responderFailed, "a responder failed"),
        (.permission, "no permission"),
    ]

    /// The list of the statuses of `space`.
    static let help = """
        \(list(meanings))

        Commands that run another command pass on its status, 128 + n for signal n, also if it ends by itself after a
        signal that both got. Every other command that a signal asks to end cleans up, and dies by that signal.
        """

    /// The list of the statuses of `space dump`, which obtains nothing and asks no responder.
    static let dumpHelp = list(
        meanings.compactMap { (status, meaning) in
            switch status {
            case .nothing: (status, "damage was found (--check), or something was left out (--salvage)")
            case .responderFailed: nil
            default: (status, meaning)
            }
        }
    )

    /// What the help of each command says instead of the list.
    static let hint = "The exit statuses: 'space help status'."

    private static func list(_ lines: [(status: ExitStatus, meaning: String)]) -> String {
        lines.map { (status, meaning) in
            let number = "\(status.rawValue)"
            return "  " + number + String(repeating: " ", count: 4 - number.count) + meaning
        }.joined(separator: "\n")
    }
}
