import CSpaceShims
import Glibc
import Synchronization
import SystemPackage

/// What proc(5) says about a process, read with suspicion: everything may be missing, hidden or of another namespace.
package enum ProcFS {
    package struct Status: Hashable, Sendable {
        /// The program's name, at most 15 bytes; the process chose it, so it may hold anything.
        package let command: String
        /// R running, S and D sleeping, T and t stopped, Z a zombie or a main thread that ended before the others.
        package let state: Character
        /// Clock ticks from the machine's start to the process's.
        package let startTime: UInt64
    }

    /// The process's status, or `nil` if it isn't there, isn't visible to us, or `/proc` isn't about our processes.
    package static func status(of pid: Int32) -> Status? {
        guard pid > 0, showsOurNamespace else { return nil }
        return (try? contents("/proc/\(pid)/stat", limit: 4096)).flatMap(parse)
    }

    /// The PID of the process that a thread belongs to, or `nil` if it isn't there or isn't visible to us.
    package static func process(ofThread thread: Int32) -> Int32? {
        guard thread > 0, showsOurNamespace, let status = try? contents("/proc/\(thread)/status", limit: 65_536),
            let line = status.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: "Tgid:".utf8) })
        else { return nil }
        return number(line.dropFirst("Tgid:\t".utf8.count)).flatMap(Int32.init(exactly:))
    }

    /// Whether a thread is shown to be gone: no task has its number, or it is a process's first thread, which has ended.
    ///
    /// Numbers are those of our PID namespace. What can't be seen counts as there.
    package static func isGone(thread: Int32) -> Bool {
        // kill(2) finds a process by the number of any of its threads.
        guard thread > 0, Errno(rawValue: -space_probe_process(thread)) != .noSuchProcess else { return true }
        // A first thread that has ended stays, as a zombie, until the others have too and the parent has asked for the status.
        let state = status(of: thread)?.state
        return state == "Z" || state == "X"
    }

    /// This process's status; `/proc/self` is right in every PID namespace.
    static func ownStatus() throws(Errno) -> Status {
        guard let status = parse(try contents("/proc/self/stat", limit: 4096)) else { throw .illegalByteSequence }
        return status
    }

    /// Whether a number in `/proc` means the process that we know by that number.
    ///
    /// After `unshare --pid` without a new mount, `/proc` still lists the outer namespace's processes: comparing start
    /// times there would declare living processes dead. proc(5), `NSpid` in status: one number for each namespace from
    /// the mount's down to the process's, so exactly one means that they are the same.
    package static var showsOurNamespace: Bool {
        // Cached per fork generation, in an atomic and not under a lock: a child forked while another thread held the
        // lock would hang on it for ever.
        let generation = UInt64(ForkGuard.generation) << 1
        let known = cachedView.load(ordering: .relaxed)
        if known & ~1 == generation { return known & 1 == 1 }
        // Out of descriptors or memory: say no this time, and look again the next.
        guard let status = try? contents("/proc/self/status", limit: 65_536) else { return false }
        let shows = isOnlyNumber(getpid(), in: status)
        cachedView.store(generation | (shows ? 1 : 0), ordering: .relaxed)
        return shows
    }

    private static let cachedView = Atomic<UInt64>(0)

    package static func isOnlyNumber(_ pid: Int32, in status: [UInt8]) -> Bool {
        let lines = status.split(separator: UInt8(ascii: "\n"))
        // A kernel without PID namespaces has no such line, and then Pid alone is right.
        for field in ["NSpid:", "Pid:"] {
            guard let line = lines.first(where: { $0.starts(with: field.utf8) }) else { continue }
            let numbers = line.dropFirst(field.utf8.count).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            return numbers.count == 1 && number(numbers[0]) == UInt64(pid)
        }
        return false
    }

    /// Parses proc(5)'s `stat`: `pid (command) state …`, the start time being field 22.
    ///
    /// The command may itself contain `) R 1 1`; so fields are counted from the *last* parenthesis.
    package static func parse(_ stat: [UInt8]) -> Status? {
        guard let open = stat.firstIndex(of: UInt8(ascii: "(")), let close = stat.lastIndex(of: UInt8(ascii: ")")),
            open < close
        else { return nil }
        let fields = stat[(close + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard fields.count > 19, fields[0].count == 1, let state = fields[0].first, let start = number(fields[19])
        else { return nil }
        return Status(
            command: String(decoding: stat[(open + 1)..<close], as: UTF8.self),
            state: Character(Unicode.Scalar(state)),
            startTime: start
        )
    }

    /// Decimal digits and nothing else: `UInt64.init` would take a sign.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard let first = digits.first, first != UInt8(ascii: "+") else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self))
    }

    static func contents(_ path: String, limit: Int) throws(Errno) -> [UInt8] {
        let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
        return try FileBytes.read(file.raw, limit: limit)
    }
}
