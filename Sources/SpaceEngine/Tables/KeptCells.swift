import Glibc
import SpaceSystem
import Synchronization
package import TupleCoding

/// Copies of the cells that this process reads again and again.
///
/// A read of a cell borrows a reader and searches a tree. Of several reads of a cell as of one commit, the second keeps the
/// value; those that follow need the number of LMDB's last commit, which is one load, and a look at the copy. A read that
/// finds no copy here pays for one more load.
///
/// Guarantees: what is found here is the cell as of the last commit. A cell that ends by itself is not kept.
///
/// Unchecked Sendable: the tags are accessed by atomic loads and stores only.
package final class KeptCells: @unchecked Sendable {
    private static let places = 64
    /// The longest encoded value that is kept.
    package static let longest = 1024

    private final class Copy: Sendable {
        let hash: UInt64
        let commit: Int
        let key: [UInt8]
        let value: Value

        init(_ value: Value, of key: String, _ hash: UInt64, asOf commit: Int) {
            (self.hash, self.commit, self.key, self.value) = (hash, commit, Array(key.utf8), value)
        }

        func isOf(_ key: String, _ hash: UInt64, asOf commit: Int) -> Bool {
            guard self.hash == hash, self.commit == commit else { return false }
            var key = key
            return key.withUTF8 { bytes in
                guard let start = bytes.baseAddress else { return self.key.isEmpty }
                return bytes.count == self.key.count && memcmp(start, self.key, bytes.count) == 0
            }
        }
    }

    /// One tag a place: of the cell that was read there last and its commit; odd if there is a copy.
    private let tags = UnsafeMutablePointer<UInt64>.allocate(capacity: places)
    private let copies = Mutex([Copy?](repeating: nil, count: places))

    package init() { tags.initialize(repeating: 0, count: Self.places) }

    deinit { tags.deallocate() }

    package static func hash(of key: String) -> UInt64 {
        var key = key
        return key.withUTF8 { Hash64.hash(UnsafeRawBufferPointer($0)) }
    }

    private static func place(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash % UInt64(places)) }

    /// The tag of the first read of a cell as of a commit.
    private static func tag(_ hash: UInt64, _ commit: Int) -> UInt64 {
        (hash ^ UInt64(truncatingIfNeeded: commit) &* 0x9E37_79B9_7F4A_7C15) & ~1
    }

    /// The value of a cell as of a commit, if there is a copy.
    @inline(__always)
    package func value(of key: String, _ hash: UInt64, asOf commit: Int) -> Value? {
        guard SharedWord64(at: tags + Self.place(of: hash)).loadRelaxed() == Self.tag(hash, commit) | 1 else {
            return nil
        }
        return copy(of: key, hash, asOf: commit)
    }

    private func copy(of key: String, _ hash: UInt64, asOf commit: Int) -> Value? {
        guard let copy = copies.withLock({ $0[Self.place(of: hash)] }), copy.isOf(key, hash, asOf: commit) else {
            return nil
        }
        return copy.value
    }

    /// Keeps the value that a read has found, if it is the second of its cell as of the commit.
    package func keep(_ value: Value, of key: String, _ hash: UInt64, asOf commit: Int) {
        let (place, tag) = (Self.place(of: hash), Self.tag(hash, commit))
        let word = SharedWord64(at: tags + place)
        switch word.loadRelaxed() {
        case tag:
            copies.withLock { $0[place] = Copy(value, of: key, hash, asOf: commit) }
            word.storeRelaxed(tag | 1)
        case tag | 1: break
        default: word.storeRelaxed(tag)
        }
    }
}
