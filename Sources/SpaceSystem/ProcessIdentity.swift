import CSpaceShims
import Glibc
import SystemPackage

/// A process for good: its PID, and the start time that tells it from a later one with the same PID.
package struct ProcessIdentity: Hashable, Sendable {
    package let pid: Int32
    /// Clock ticks since the machine's start (proc(5), `stat`, field 22); threads and exec don't change it.
    package let startTime: UInt64

    package init(pid: Int32, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }

    /// This process.
    ///
    /// - Throws: what opening `/proc/self/stat` gives, when `/proc` isn't mounted.
    package static var current: ProcessIdentity {
        get throws(Errno) {
            // getpid(2), not the number in the file: that is the PID in the namespace that /proc was mounted in.
            ProcessIdentity(pid: getpid(), startTime: try ProcFS.ownStatus().startTime)
        }
    }

    /// The process that has this PID now, or `nil` if there is none or it isn't visible to us.
    package static func of(pid: Int32) -> ProcessIdentity? {
        ProcFS.status(of: pid).map { ProcessIdentity(pid: pid, startTime: $0.startTime) }
    }

    /// Whether there is a process with this PID that `/proc` doesn't show: mounted with `hidepid`, it hides other users' processes.
    package static func isHidden(pid: Int32) -> Bool {
        pid > 0 && of(pid: pid) == nil && Errno(rawValue: -space_probe_process(pid)) != .noSuchProcess
    }

    /// The state letter of proc(5): T and t stopped, Z a zombie *or* one whose main thread has ended.
    package static func state(of pid: Int32) -> Character? {
        ProcFS.status(of: pid)?.state
    }

    /// The program's name as the process gives it: escape control characters before showing it to people.
    package static func commandName(of pid: Int32) -> String? {
        ProcFS.status(of: pid)?.command
    }

    /// The parent's PID; 0 when it lives in an outer PID namespace.
    package static func parent() -> Int32 { getppid() }

    /// Whether a process is one that something can wait to exit.
    ///
    /// PID 1 of the machine's first PID namespace never exits, and orphans go to it. In any other PID namespace its death ends
    /// all processes (pid_namespaces(7)), so there it is as good as any.
    package static func mayExit(pid: Int32) -> Bool {
        pid > 1 || pid == 1 && !SystemIdentity.isFirstPIDNamespace
    }

    package enum Life: Hashable, Sendable {
        case alive
        /// Shown dead beyond doubt.
        case dead
    }

    /// Whether the process is shown dead; whatever can't be seen counts as alive.
    ///
    /// Dead is: there is no such PID; or its pidfd is readable; or the PID's start time is readable and is another. The
    /// pidfd is opened first, so that the process whose start time is compared afterwards is the one that it stands for
    /// or a later one, never an earlier. A `Z` in `/proc` alone isn't death: a process whose main thread called
    /// pthread_exit(3) shows it and lives on.
    package static func life(pid: Int32, startTime: UInt64) -> Life {
        // No process has such a number, and kill(2) takes it for a group.
        guard pid > 0 else { return .dead }
        do throws(Errno) {
            let descriptor = try PIDFD(pid: pid)
            if differs(pid, startTime) { return .dead }
            return descriptor.hasExited ? .dead : .alive
        } catch .noSuchProcess {
            return .dead
        } catch {
            // Out of descriptors, a kernel or seccomp filter without pidfd_open, or the number now is a thread's that
            // isn't a process. kill(2) with signal 0 needs none of that: its ESRCH is as good a proof.
            if Errno(rawValue: -space_probe_process(pid)) == .noSuchProcess { return .dead }
            return differs(pid, startTime) ? .dead : .alive
        }
    }

    package var life: Life { Self.life(pid: pid, startTime: startTime) }

    /// A different start time shows that the PID was given to another; an unreadable one shows nothing.
    private static func differs(_ pid: Int32, _ startTime: UInt64) -> Bool {
        guard let status = ProcFS.status(of: pid) else { return false }
        return status.startTime != startTime
    }
}
