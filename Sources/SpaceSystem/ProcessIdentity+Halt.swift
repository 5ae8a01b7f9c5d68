extension ProcessIdentity {
    /// Why a process does not run, whoever lets it go on.
    package enum Halt: Hashable, Sendable {
        /// By a signal, or a debugger.
        case stopped
        /// By the freezer of its control group.
        case frozen

        /// What to say of the process.
        package var phrase: String {
            switch self {
            case .stopped: "stopped"
            case .frozen: "frozen, by the freezer of its control group"
            }
        }

        /// What to do about it.
        package func advice(for pid: Int32) -> String {
            switch self {
            case .stopped: "let it go on (kill -CONT \(pid)) or end it"
            case .frozen: "thaw its control group (/proc/\(pid)/cgroup names it) or end it"
            }
        }
    }

    /// Whether a process is stopped or frozen; `nil`: it runs, or that can't be told.
    package static func halt(of pid: Int32) -> Halt? {
        switch state(of: pid) {
        case nil: nil
        case "T", "t": .stopped
        // A frozen process shows S (control groups of version 2) or D (version 1), as many that run do.
        default: ControlGroups.isFrozen(pid) ? .frozen : nil
        }
    }
}
