import CSpaceShims
import Glibc
import Synchronization
package import SystemPackage

/// The facts of proc(5) about a process, which are not trusted: each may be missing, hidden, or from another namespace.
package enum ProcFS {
    package struct Status: Hashable, Sendable {
        /// The program's name, at most 15 bytes; the process chose it, so it may contain anything.
        package let command: String
        /// R running, S and D sleeping, T and t stopped, Z a zombie, or a main thread that ended before the others.
        package let state: Character
        /// The parent's PID; 0 if the parent is in an outer PID namespace.
        package let parent: Int32
        /// Clock ticks from the machine's start to the process's start.
        package let startTime: UInt64
    }

    /// A process's status, or `nil` if the process does not exist or is hidden, or if `/proc` shows another PID
    /// namespace.
    package static func status(of pid: Int32) -> Status? {
        guard pid > 0, showsOurNamespace else { return nil }
        return (try? contents("/proc/\(pid)/stat", limit: 4096)).flatMap(parse)
    }

    /// The same as ``status(of:)``, but a missing descriptor is an error: it says nothing about the process.
    ///
    /// - Throws: `tooManyOpenFiles` or `tooManyOpenFilesInSystem`.
    package static func find(_ pid: Int32) throws(Errno) -> Status? {
        guard pid > 0 else { return nil }
        do throws(Errno) {
            let bytes = try contents("/proc/\(pid)/stat", limit: 4096)
            return showsOurNamespace ? parse(bytes) : nil
        } catch {
            if error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem { throw error }
            return nil
        }
    }

    /// The PID of the process that a thread belongs to, or `nil` if the thread does not exist or is hidden.
    package static func process(ofThread thread: Int32) -> Int32? {
        numbers(of: "Tgid:", thread).flatMap { $0.first.flatMap(Int32.init(exactly:)) }
    }

    /// The effective UID of a process, or `nil` if the process does not exist or is hidden.
    package static func user(of pid: Int32) -> UInt32? {
        // proc(5): real, effective, saved and file system UID. The owner of the folder is not it: that is root if the
        // process may not be dumped.
        numbers(of: "Uid:", pid).flatMap { $0.count > 1 ? UInt32(exactly: $0[1]) : nil }
    }

    /// The numbers of a line of proc(5)'s `status`, or `nil` if there is no such line to be read.
    private static func numbers(of field: String, _ pid: Int32) -> [UInt64]? {
        guard pid > 0, showsOurNamespace, let status = try? contents("/proc/\(pid)/status", limit: 65_536) else {
            return nil
        }
        let line = status.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: field.utf8) }
        return line?.dropFirst(field.utf8.count).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            .compactMap(number)
    }

    /// Whether a thread has provably ended: no task has its number, or it is a process's first thread and has ended.
    ///
    /// The number is one of this process's PID namespace. A thread that can't be seen counts as alive.
    package static func isGone(thread: Int32) -> Bool {
        // kill(2) finds a process by the number of any of its threads.
        guard thread > 0, Errno(rawValue: -space_probe_process(thread)) != .noSuchProcess else { return true }
        // A first thread that has ended remains as a zombie until all other threads have ended and the parent has
        // reaped the process.
        let state = status(of: thread)?.state
        return state == "Z" || state == "X"
    }

    /// This process's status; `/proc/self` is right in every PID namespace.
    static func ownStatus() throws(Errno) -> Status {
        guard let status = parse(try contents("/proc/self/stat", limit: 4096)) else { throw .illegalByteSequence }
        return status
    }

    /// Whether the PIDs in `/proc` are those of this process's PID namespace.
    ///
    /// After `unshare --pid` without a new mount, `/proc` still lists the outer namespace's processes, and comparing
    /// start times there would declare living processes dead. proc(5): `NSpid` in status has one number for each
    /// namespace from the mount's down to the process's. So if there is exactly one number, the two namespaces are the
    /// same.
    package static var showsOurNamespace: Bool {
        // The answer is cached per fork generation. It is in an atomic and not under a lock: a child forked while
        // another thread holds the lock would wait for it forever.
        let generation = UInt64(ForkGuard.generation) << 1
        let known = cachedView.load(ordering: .relaxed)
        if known & ~1 == generation { return known & 1 == 1 }
        // If the file can't be read (no descriptor or memory left), the answer is no this time, and is not cached.
        guard let status = try? contents("/proc/self/status", limit: 65_536) else { return false }
        let shows = isOnlyNumber(getpid(), in: status)
        cachedView.store(generation | (shows ? 1 : 0), ordering: .relaxed)
        return shows
    }

    private static let cachedView = Atomic<UInt64>(0)

    package static func isOnlyNumber(_ pid: Int32, in status: [UInt8]) -> Bool {
        let lines = status.split(separator: UInt8(ascii: "\n"))
        // A kernel without PID namespaces has no NSpid line; Pid is right then.
        for field in ["NSpid:", "Pid:"] {
            guard let line = lines.first(where: { $0.starts(with: field.utf8) }) else { continue }
            let numbers = line.dropFirst(field.utf8.count).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            return numbers.count == 1 && number(numbers[0]) == UInt64(pid)
        }
        return false
    }

    /// Parses proc(5)'s `stat`: `pid (command) state …`; the start time is field 22.
    ///
    /// The command may itself contain `) R 1 1`, so fields are counted from the *last* parenthesis.
    package static func parse(_ stat: [UInt8]) -> Status? {
        guard let open = stat.firstIndex(of: UInt8(ascii: "(")), let close = stat.lastIndex(of: UInt8(ascii: ")")),
            open < close
        else { return nil }
        let fields = stat[(close + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard fields.count > 19, fields[0].count == 1, let state = fields[0].first,
            let parent = number(fields[1]).flatMap(Int32.init(exactly:)), let start = number(fields[19])
        else { return nil }
        return Status(
            command: String(decoding: stat[(open + 1)..<close], as: UTF8.self),
            state: Character(Unicode.Scalar(state)),
            parent: parent,
            startTime: start
        )
    }

    /// Parses decimal digits only: `UInt64.init` would accept a sign too.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard let first = digits.first, first != UInt8(ascii: "+") else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    static func contents(_ path: String, limit: Int) throws(Errno) -> [UInt8] {
        let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
        return try FileBytes.read(file.raw, limit: limit)
    }
}
