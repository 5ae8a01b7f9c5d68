import Glibc
package import SpaceSystem

/// Which process an agent is.
///
/// A client starts the server itself, or through a wrapper: npx, sh, timeout. A wrapper passes its own standard input
/// on to the server, while the agent has the other end of it. So the agent is the first ancestor whose standard input
/// is another file than the server's, whatever the wrappers are called. The input of another user's process, such as
/// sudo, can't be seen: that process may be a wrapper or the agent. The input of the user's own process can't be seen
/// either if the process may not be dumped: some agents protect themselves in this way, and no wrapper does.
package enum AgentProcess {
    /// The agent that this process serves; `nil` if its parent has ended, or is a process that never ends.
    ///
    /// - Parameter parent: The parent at the start of this process. If the parent is another one now, it is a process
    ///   that adopts orphans.
    /// - Returns: The process.
    /// - Throws: `AgentError` if that can't be told.
    package static func found(from parent: Int32) throws(AgentError) -> ProcessIdentity? {
        let input = standardInput(of: "self")
        var pid = parent
        guard getppid() == parent else { return nil }
        for _ in 0..<mostGenerations {
            guard ProcessIdentity.mayExit(pid: pid), let process = ProcessIdentity.of(pid: pid), process.life == .alive
            else { return nil }
            guard let input else { return process }
            if isHidden(pid) {
                throw AgentError(
                    "process \(pid) (\(ProcessIdentity.commandName(of: pid) ?? "?")), which has started this, is another user's: it "
                        + "can't be told whether it is the agent or a wrapper around this"
                )
            }
            guard standardInput(of: "\(pid)") == input, let parent = ProcessIdentity.parent(of: pid) else {
                return process
            }
            pid = parent
        }
        return nil
    }

    /// The processes of which this one is a descendant, the nearest first.
    package static func ancestors() -> [ProcessIdentity] {
        var found: [ProcessIdentity] = []
        var pid = getppid()
        while found.count < mostGenerations, pid > 0, let process = ProcessIdentity.of(pid: pid) {
            found.append(process)
            guard let parent = ProcessIdentity.parent(of: pid) else { break }
            pid = parent
        }
        return found
    }

    /// Whether a process is a thread of the kernel, which never ends: PF_KTHREAD among its flags, field 9 of proc(5)'s `stat`.
    package static func isKernelThread(_ pid: Int32) -> Bool {
        guard let stat = try? FileBytes.read(at: AT_FDCWD, "/proc/\(pid)/stat", limit: 4096) else { return false }
        // The command may have spaces in it; the state after it is field 3.
        let fields = stat.split(separator: UInt8(ascii: ")")).last?.split(separator: UInt8(ascii: " ")) ?? []
        guard fields.count > 6, let flags = UInt32(String(decoding: fields[6], as: UTF8.self)) else { return false }
        return flags & 0x0020_0000 != 0
    }

    /// The folder in which a process works; `nil` if it can't be read.
    package static func folder(of pid: Int32) -> String? { ResolvedPath.linkText("/proc/\(pid)/cwd") }

    private static let mostGenerations = 64

    /// Whether a process belongs to another user, so that this process may not look at it.
    private static func isHidden(_ pid: Int32) -> Bool {
        guard let user = ProcessIdentity.user(of: pid), user != geteuid() else { return false }
        return ResolvedPath.linkText("/proc/\(pid)/fd/0") == nil
    }

    /// The pipe or socket that is a process's standard input; `nil` if it is something else, which many processes may share.
    private static func standardInput(of process: String) -> String? {
        guard let text = ResolvedPath.linkText("/proc/\(process)/fd/0"),
            text.hasPrefix("pipe:") || text.hasPrefix("socket:")
        else { return nil }
        return text
    }
}

extension ProcessIdentity {
    /// The text that stands for a process in tuples: `PID:START`.
    package var agentKey: String { "\(pid):\(startTime)" }

    /// Reads what ``agentKey`` is.
    package init?(agentKey text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let pid = Int32(parts[0]), pid > 0, let start = UInt64(parts[1]) else { return nil }
        self.init(pid: pid, startTime: start)
    }
}
