extension ProcessIdentity {
    /// Why a process is halted until another process resumes it.
    package enum Halt: Hashable, Sendable {
        /// A signal or a debugger has stopped it.
        case stopped
        /// The freezer of its control group has stopped it.
        case frozen

        /// How to describe the process in a message.
        package var phrase: String {
            switch self {
            case .stopped: "stopped"
            case .frozen: "frozen, by the freezer of its control group"
            }
        }

        /// How to let the process go on, for a message.
        package func advice(for pid: Int32) -> String {
            switch self {
            case .stopped: "let it go on (kill -CONT \(pid)) or end it"
            case .frozen: "thaw its control group (/proc/\(pid)/cgroup names it) or end it"
            }
        }
    }

    /// Whether a process is stopped or frozen; `nil` if it runs, or if that is unknown.
    package static func halt(of pid: Int32) -> Halt? {
        switch state(of: pid) {
        case nil: nil
        case "T", "t": .stopped
        // The state of a frozen process is S (control groups of version 2) or D (version 1), like that of many running
        // processes.
        default: ControlGroups.isFrozen(pid) ? .frozen : nil
        }
    }
}
