import Glibc
import SpaceSystem
import SystemPackage

extension TemporaryRoot {
    /// The names in a folder of the root, sorted; empty when there is none.
    package func entries(of folder: String = "") -> [String] {
        guard let descriptor = try? OwnedDescriptor.open("\(path)/\(folder)", flags: O_RDONLY | O_DIRECTORY),
            let names = try? Directory.list(descriptor.raw)
        else { return [] }
        return names.sorted()
    }

    /// What creators and reapers left behind.
    package var leftovers: [String] {
        entries(of: ".nursery").map { ".nursery/\($0)" } + entries(of: ".graveyard").map { ".graveyard/\($0)" }
    }
}

/// What processes note while they work, so that it can be compared when some of them were killed: numbers in a file, each
/// appended by one `write(2)`, which a kill can't divide.
package struct Ledger: Sendable {
    package let path: String

    package init(_ root: TemporaryRoot, _ name: String) { path = "\(root.path)/.ledger-\(name)" }

    /// What was noted, in order.
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
