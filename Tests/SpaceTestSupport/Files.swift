import Glibc
package import SpaceSystem
import SystemPackage

extension TemporaryRoot {
    /// The names in a folder of the root, sorted; empty if the folder is missing.
    package func entries(of folder: String = "") -> [String] {
        guard let descriptor = try? OwnedDescriptor.open("\(path)/\(folder)", flags: O_RDONLY | O_DIRECTORY),
            let names = try? Directory.list(descriptor.raw)
        else { return [] }
        return names.sorted()
    }

    /// The files that creators and reapers left behind.
    package var leftovers: [String] {
        entries(of: ".nursery").map { ".nursery/\($0)" } + entries(of: ".graveyard").map { ".graveyard/\($0)" }
    }
}

/// The steps that processes note while they work, to be compared after some of them were killed: numbers in a file,
/// each appended by one `write(2)`, which a kill can't divide.
package struct Ledger: Sendable {
    package let path: String

    package init(_ root: TemporaryRoot, _ name: String) { path = "\(root.path)/.ledger-\(name)" }

    /// The noted numbers, in order.
    package func numbers() throws -> [Int] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileBytes.read(at: AT_FDCWD, path, limit: 1 << 26)
        } catch .noSuchFileOrDirectory {
            return []
        }
        return bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / 8).map { Int(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int.self)) }
        }
    }
}

/// The bytes of any file.
package func bytes(ofFile path: String) throws -> [UInt8] {
    try FileBytes.read(at: AT_FDCWD, path, limit: 1 << 26)
}

/// Replaces the bytes of any file, which keeps its inode, or makes it.
package func write(_ bytes: some Sequence<UInt8>, toFile path: String) throws {
    let file = try OwnedDescriptor.open(path, flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
    try FileBytes.write(Array(bytes), to: file.raw)
}

extension TemporaryRoot {
    /// Removes a folder of the root, as a program does that knows nothing of spaces.
    package func removeTree(_ folder: String) throws {
        let tree = FilePath(path).appending(folder)
        let parent = tree.removingLastComponent().string
        let descriptor = try OwnedDescriptor.open(parent, flags: O_RDONLY | O_DIRECTORY)
        try Directory.removeTree(at: descriptor.raw, tree.lastComponent?.string ?? "")
    }

    /// The bytes of any file.
    package func file(_ path: String) throws -> [UInt8] { try FileBytes.read(at: AT_FDCWD, path, limit: 1 << 20) }

    /// The bytes of a file of the root.
    package func bytes(of file: String) throws -> [UInt8] {
        try FileBytes.read(at: AT_FDCWD, "\(path)/\(file)", limit: 1 << 26)
    }

    /// The first bytes of a file of the root.
    package func prefix(of file: String, count: Int) throws -> [UInt8] {
        let descriptor = try OwnedDescriptor.open("\(path)/\(file)", flags: O_RDONLY)
        return try FileBytes.readPrefix(descriptor.raw, count: count)
    }

    /// The data file of a namespace: its length and its blocks.
    package func dataFile(_ namespace: String = "n") throws -> FileInfo {
        try Directory.info(at: AT_FDCWD, "\(path)/\(namespace)/data.mdb")
    }

    /// How long a file of the root is.
    package func length(of file: String) throws -> Int {
        try Directory.info(at: AT_FDCWD, "\(path)/\(file)").size
    }

    /// Overwrites a file of the root, from a position on; `length` then cuts it or makes it longer.
    package func overwrite(_ file: String, _ bytes: [UInt8], at offset: Int = 0, length: Int? = nil) throws {
        let descriptor = try OwnedDescriptor.open("\(path)/\(file)", flags: O_RDWR | O_CREAT, mode: 0o600)
        try FileBytes.write(bytes, to: descriptor.raw, at: offset)
        if let length { try FileBytes.truncate(descriptor.raw, to: length) }
    }
}

extension TemporaryRoot {
    /// This process's descriptors of a file of the root.
    package func descriptors(of file: String) throws -> [CInt] {
        let wanted = try Directory.info(at: AT_FDCWD, "\(path)/\(file)")
        let folder = try OwnedDescriptor.open("/proc/self/fd", flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(folder.raw).compactMap(CInt.init).filter { descriptor in
            // The descriptor may have been closed meanwhile.
            guard let info = try? FileInfo.of(descriptor) else { return false }
            return info.device == wanted.device && info.inode == wanted.inode
        }
    }

    /// Copies a folder of another root, sparse files as sparse ones unless told otherwise.
    package func copyTree(_ folder: String, from other: TemporaryRoot, keepsHoles: Bool = true) throws {
        try Self.copy("\(other.path)/\(folder)", to: "\(path)/\(folder)", keepsHoles)
    }

    // lseek(2), which Swift's Glibc module hides: unistd.h has these under _GNU_SOURCE.
    private static let seekData: CInt = 3
    private static let seekHole: CInt = 4

    private static func copy(_ source: String, to target: String, _ keepsHoles: Bool) throws {
        guard mkdir(target, 0o700) == 0 else { throw TestFailure("mkdir \(target): errno \(errno)") }
        let folder = try OwnedDescriptor.open(source, flags: O_RDONLY | O_DIRECTORY)
        for name in try Directory.list(folder.raw) {
            let info = try Directory.info(at: folder.raw, name)
            if info.kind == .directory {
                try copy("\(source)/\(name)", to: "\(target)/\(name)", keepsHoles)
                continue
            }
            let from = try OwnedDescriptor.openat(directory: folder.raw, name, flags: O_RDONLY)
            let to = try OwnedDescriptor.open("\(target)/\(name)", flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try FileBytes.truncate(to.raw, to: info.size)
            if !keepsHoles {
                try FileBytes.write(try FileBytes.readPrefix(from.raw, count: info.size), to: to.raw)
                continue
            }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            var position = lseek(from.raw, 0, seekData)
            // lseek(2): ENXIO when there is no data beyond the position.
            while position >= 0 {
                let end = lseek(from.raw, position, seekHole)
                while position < end {
                    let count = pread(from.raw, &chunk, min(chunk.count, Int(end - position)), position)
                    guard count > 0 else { throw TestFailure("pread \(source)/\(name): errno \(errno)") }
                    try FileBytes.write(Array(chunk[..<count]), to: to.raw, at: Int(position))
                    position += off_t(count)
                }
                position = lseek(from.raw, end, seekData)
            }
        }
    }
}

extension Agent {
    /// The paths of the files that this process has open, as proc(5) shows them.
    package func openFiles() throws -> [String] {
        let folder = try OwnedDescriptor.open("/proc/\(pid)/fd", flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(folder.raw).compactMap { name in
            var target = [CChar](repeating: 0, count: 4096)
            let length = readlinkat(folder.raw, name, &target, target.count)
            // The file may have been closed meanwhile.
            return length < 0 ? nil : String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
