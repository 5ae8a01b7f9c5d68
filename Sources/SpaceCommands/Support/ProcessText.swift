import SharedSpace
import SpaceSystem

/// Processes as people know them: what they run, and whether they run.
enum ProcessText {
    /// What a process runs, at most `length` columns of it; `nil` if it can't be read.
    static func command(of pid: Int32, length: Int = 60) -> String? {
        ProcessIdentity.commandLine(of: pid, showing: WaitGraph.runner).map { PeopleText.shortened($0, to: length) }
    }

    /// What a process runs, in a few words: of a command of `space` that runs another, that other.
    static func work(of pid: Int32) -> String? {
        guard let text = ProcessIdentity.commandLine(of: pid, showing: WaitGraph.runner) else { return nil }
        let end = text.ranges(of: " (\(WaitGraph.runner)").last?.lowerBound ?? text.endIndex
        return PeopleText.shortened(String(text[..<end]), to: 40)
    }

    /// Whether a living process runs, is stopped or is frozen.
    static func state(of pid: Int32) -> String {
        switch ProcessIdentity.halt(of: pid) {
        case .stopped?: "stopped"
        case .frozen?: "frozen"
        case nil: "runs"
        }
    }
}
