import Glibc
package import SystemPackage

/// What decides whether PIDs, locks and mutexes in a file mean anything here.
///
/// The paths are parameters for tests alone: no global state can make a process take itself for another.
package enum SystemIdentity {
    /// This boot's number: after a reboot no process, lock or mutex of before exists.
    package static func bootID(path: String = "/proc/sys/kernel/random/boot_id") throws(Errno) -> BootID {
        let text = try ProcFS.contents(path, limit: 64)
        let line = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard let id = BootID(text: line) else { throw .illegalByteSequence }
        return id
    }

    /// The inode of this process's PID namespace (namespaces(7)): the same PID in another one is another process.
    ///
    /// The kernel's numbers are unique among the living namespaces of one boot.
    package static func pidNamespace(path: String = "/proc/self/ns/pid") throws(Errno) -> UInt64 {
        try namespace(path)
    }

    /// Whether this process lives in the machine's first PID namespace; if that can't be read, it counts as that.
    ///
    /// linux/proc_ns.h: PROC_PID_INIT_INO, a number that no later namespace gets.
    static var isFirstPIDNamespace: Bool { (try? pidNamespace()) ?? 0xEFFF_FFFC == 0xEFFF_FFFC }

    /// The inode of this process's time namespace, 0 on a kernel without any.
    ///
    /// proc(5) shows start times shifted by the reader's offset (time_namespaces(7)), so they can't be compared between
    /// processes in two of them.
    package static func timeNamespace(path: String = "/proc/self/ns/time") throws(Errno) -> UInt64 {
        do throws(Errno) { return try namespace(path) } catch .noSuchFileOrDirectory { return 0 }
    }

    /// Whether this process lives in the machine's first time namespace, whose clocks have no offset.
    ///
    /// linux/proc_ns.h: PROC_TIME_INIT_INO. On a kernel without time namespaces there is no other.
    package static var isFirstTimeNamespace: Bool { [0, 0xEFFF_FFFA].contains((try? timeNamespace()) ?? 0) }

    private static func namespace(_ path: String) throws(Errno) -> UInt64 {
        // Followed, unlike everything else: the link leads to the namespace itself, whose inode is its number.
        let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
        return try FileInfo.of(file.raw).inode
    }
}
