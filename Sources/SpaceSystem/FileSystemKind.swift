import CSpaceShims
package import SystemPackage

/// The kinds of file system on which a sparse mapped file is known to work, and all others.
package enum FileSystemKind: Hashable, Sendable {
    case tmpfs
    /// ext2, ext3 or ext4, which have the same number.
    case ext4
    case xfs
    /// Any other kind, by its number in statfs(2).
    case other(UInt)

    package static func of(_ descriptor: CInt) throws(Errno) -> FileSystemKind {
        FileSystemKind(number: try FileSystemRoom.status(descriptor).kind)
    }

    /// The name of the file system that an open file is on (ext2, for example), as `mountinfo` gives it (proc(5)).
    ///
    /// If `mountinfo` doesn't show the file's device, this is the file system's number in statfs(2).
    package static func name(of descriptor: CInt) -> String {
        if let name = mountedName(of: descriptor) { return name }
        guard let number = try? FileSystemRoom.status(descriptor).kind else { return "unknown" }
        return "type 0x\(String(number, radix: 16))"
    }

    private static func mountedName(of descriptor: CInt) -> String? {
        guard let device = try? FileInfo.of(descriptor).device,
            let table = try? ProcFS.contents("/proc/self/mountinfo", limit: 1 << 22)
        else { return nil }
        // The same as glibc's major(3) and minor(3), which are macros.
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & 0xFFFF_FF00
        let wanted = "\(major):\(minor)"
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
            let words = line.split(separator: " ")
            guard words.count > 2, words[2] == wanted, let end = words.firstIndex(of: "-"), end + 1 < words.count
            else { continue }
            return String(words[end + 1])
        }
        return nil
    }

    init(number: UInt64) {
        // The numbers in statfs(2).
        self =
            switch number {
            case 0x0102_1994: .tmpfs
            case 0xEF53: .ext4
            case 0x5846_5342: .xfs
            default: .other(UInt(number))
            }
    }
}
