import CSpaceShims
import Glibc
package import SystemPackage

/// The identity of a process: its PID, and its start time, which distinguishes it from a later process with the same
/// PID.
package struct ProcessIdentity: Hashable, Sendable {
    package let pid: Int32
    /// The start time in clock ticks since the machine's start (proc(5), `stat`, field 22); threads and exec don't
    /// change it.
    package let startTime: UInt64

    package init(pid: Int32, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }

    /// The identity of this process.
    ///
    /// - Throws: the error of opening `/proc/self/stat` if `/proc` isn't mounted.
    package static var current: ProcessIdentity {
        get throws(Errno) {
            // getpid(2), not the number in the file, which is the PID in the namespace in which /proc was mounted.
            ProcessIdentity(pid: getpid(), startTime: try ProcFS.ownStatus().startTime)
        }
    }

    /// The process that has this PID now, or `nil` if there is none or it is hidden.
    package static func of(pid: Int32) -> ProcessIdentity? {
        ProcFS.status(of: pid).map { ProcessIdentity(pid: pid, startTime: $0.startTime) }
    }

    /// The same as ``of(pid:)``, but a missing descriptor is an error: it says nothing about the process.
    ///
    /// - Throws: `tooManyOpenFiles` or `tooManyOpenFilesInSystem`.
    package static func find(pid: Int32) throws(Errno) -> ProcessIdentity? {
        try ProcFS.find(pid).map { ProcessIdentity(pid: pid, startTime: $0.startTime) }
    }

    /// Whether a process has this PID but `/proc` doesn't show it: mounted with `hidepid`, `/proc` hides other users'
    /// processes.
    package static func isHidden(pid: Int32) -> Bool {
        pid > 0 && of(pid: pid) == nil && Errno(rawValue: -space_probe_process(pid)) != .noSuchProcess
    }

    /// The state letter of proc(5): T and t stopped, Z a zombie *or* a process whose main thread has ended.
    package static func state(of pid: Int32) -> Character? {
        ProcFS.status(of: pid)?.state
    }

    /// The program's name, as the process has set it: escape control characters before you show it to people.
    package static func commandName(of pid: Int32) -> String? {
        ProcFS.status(of: pid)?.command
    }

    /// The parent's PID; 0 if the parent is in an outer PID namespace.
    package static func parent() -> Int32 { getppid() }

    /// The PID of another process's parent; `nil` if there is none in this PID namespace, or if it is unknown.
    package static func parent(of pid: Int32) -> Int32? {
        ProcFS.status(of: pid).flatMap { $0.parent > 0 ? $0.parent : nil }
    }

    /// The user whose rights a process has (its effective UID); `nil` if that is unknown.
    package static func user(of pid: Int32) -> UInt32? { ProcFS.user(of: pid) }

    /// Whether it makes sense to wait until a process exits.
    ///
    /// PID 1 of the machine's first PID namespace never exits, and becomes the parent of orphans. In any other PID
    /// namespace, the death of PID 1 ends all processes (pid_namespaces(7)), so there it is like any other process.
    package static func mayExit(pid: Int32) -> Bool {
        pid > 1 || pid == 1 && !SystemIdentity.isFirstPIDNamespace
    }

    package enum Life: Hashable, Sendable {
        case alive
        /// The process is provably dead.
        case dead
    }

    /// Whether the process is provably dead; a process that can't be seen counts as alive.
    ///
    /// A process is dead if no process has its PID, if its pidfd is readable, or if the PID's start time is readable
    /// and differs. The pidfd is opened first: the process whose start time is compared afterwards is then the pidfd's
    /// process or a later one, never an earlier one. A `Z` in `/proc` doesn't prove death: a process whose main thread
    /// has called pthread_exit(3) shows it too, and lives on.
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
            // No descriptor is left, the kernel or a seccomp filter refuses pidfd_open, or the number now belongs to a
            // thread that isn't a process's first. kill(2) with signal 0 still works then, and its ESRCH proves death
            // as well.
            if Errno(rawValue: -space_probe_process(pid)) == .noSuchProcess { return .dead }
            return differs(pid, startTime) ? .dead : .alive
        }
    }

    package var life: Life { Self.life(pid: pid, startTime: startTime) }

    /// Whether the process is provably dead, if only the low `count` bits of its start time are known.
    package func life(ofLowBits count: Int) -> Life {
        let mask: UInt64 = 1 << UInt64(count) - 1
        guard let seen = Self.of(pid: pid), seen.startTime & mask == startTime & mask else { return life }
        return seen.life
    }

    /// Whether the PID's start time is readable and differs, which proves that another process has got the PID.
    private static func differs(_ pid: Int32, _ startTime: UInt64) -> Bool {
        guard let status = ProcFS.status(of: pid) else { return false }
        return status.startTime != startTime
    }
}
