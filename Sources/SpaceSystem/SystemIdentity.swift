import Glibc
package import SystemPackage

/// The facts that decide whether PIDs, locks and mutexes in a file are valid for this process.
///
/// The paths are parameters only for tests: no global state can give a process a wrong identity.
package enum SystemIdentity {
    /// This boot's number: after a reboot, no earlier process, lock or mutex exists.
    package static func bootID(path: String = "/proc/sys/kernel/random/boot_id") throws(Errno) -> BootID {
        let text = try ProcFS.contents(path, limit: 64)
        let line = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard let id = BootID(text: line) else { throw .illegalByteSequence }
        return id
    }

    /// The inode of this process's PID namespace (namespaces(7)): in another namespace the same PID means another
    /// process.
    ///
    /// The kernel's numbers are unique among the existing namespaces of one boot.
    package static func pidNamespace(path: String = "/proc/self/ns/pid") throws(Errno) -> UInt64 {
        try namespace(path)
    }

    /// Whether this process is in the machine's first PID namespace; true also if the namespace can't be read.
    ///
    /// linux/proc_ns.h: PROC_PID_INIT_INO is a number that no later namespace gets.
    static var isFirstPIDNamespace: Bool { (try? pidNamespace()) ?? 0xEFFF_FFFC == 0xEFFF_FFFC }

    /// The inode of this process's time namespace, or 0 on a kernel without time namespaces.
    ///
    /// proc(5) shifts the start times that it shows by the reader's offset (time_namespaces(7)), so processes in two
    /// time namespaces can't compare them.
    package static func timeNamespace(path: String = "/proc/self/ns/time") throws(Errno) -> UInt64 {
        do throws(Errno) { return try namespace(path) } catch .noSuchFileOrDirectory { return 0 }
    }

    /// Whether this process is in the machine's first time namespace, whose clocks have no offset.
    ///
    /// linux/proc_ns.h: PROC_TIME_INIT_INO. True also on a kernel without time namespaces, or if the namespace can't be
    /// read.
    package static var isFirstTimeNamespace: Bool { [0, 0xEFFF_FFFA].contains((try? timeNamespace()) ?? 0) }

    private static func namespace(_ path: String) throws(Errno) -> UInt64 {
        // Unlike elsewhere, the symbolic link is followed: it leads to the namespace itself, whose inode is its number.
        let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
        return try FileInfo.of(file.raw).inode
    }
}
