import Glibc

extension ProcFS {
    /// The address at which this process has mapped a file's beginning, shared and writable.
    ///
    /// - Returns: `nil` if there is no such map, or if `/proc` shows another device number than stat(2) does
    ///   (overlayfs, btrfs).
    package static func mapping(device: UInt64, inode: UInt64) -> UnsafeMutableRawPointer? {
        guard let maps = try? contents("/proc/self/maps", limit: 16 << 20) else { return nil }
        // The same as major(3) and minor(3).
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & ~0xFF
        for line in maps.split(separator: UInt8(ascii: "\n")) {
            // proc(5): start-end permissions offset major:minor inode path
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard words.count >= 5, words[1].hasPrefix("rw"), words[1].hasSuffix("s"), UInt64(words[2], radix: 16) == 0,
                UInt64(words[4]) == inode
            else { continue }
            let numbers = words[3].split(separator: ":").map { UInt64($0, radix: 16) }
            guard numbers == [major, minor], let start = words[0].split(separator: "-").first,
                let address = UInt(start, radix: 16)
            else { continue }
            return UnsafeMutableRawPointer(bitPattern: address)
        }
        return nil
    }
}
