import Glibc

extension ProcFS {
    /// The address at which this process has mapped a file's beginning, shared and writable.
    ///
    /// - Returns: `nil` if there is no such map, or if `/proc` shows another device number than stat(2) does
    ///   (overlayfs, btrfs).
    package static func mapping(device: UInt64, inode: UInt64) -> UnsafeMutableRawPointer? {
        guard var maps = try? contents("/proc/self/maps", limit: 16 << 20) else { return nil }
        maps.append(0)
        // The same as major(3) and minor(3).
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & ~0xFF
        func hexadecimal(_ number: UInt64) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
        // proc(5): start-end permissions offset major:minor inode path
        let rest = " rw-s 00000000 \(hexadecimal(major)):\(hexadecimal(minor)) \(inode) "
        return maps.withUnsafeBytes { maps in
            guard let base = maps.baseAddress?.assumingMemoryBound(to: CChar.self), let found = strstr(base, rest)
            else {
                return nil
            }
            let line = maps[..<(UnsafePointer(found) - base)].reversed().prefix { $0 != UInt8(ascii: "\n") }
            let start = String(decoding: line.reversed(), as: UTF8.self).prefix { $0 != "-" }
            return UInt(start, radix: 16).flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
        }
    }
}
