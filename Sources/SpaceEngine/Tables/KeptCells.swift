import Glibc
import SpaceSystem
import Synchronization

/// Copies of the cells that this process reads again and again.
///
/// A read of a cell borrows a reader and searches a tree. A cell that is read three times as of one commit is kept; the reads
/// that follow need the number of LMDB's last commit and a look at the copy. A read of a cell that was not read lately pays for
/// one load and one store.
///
/// Guarantees: what is found here is the cell as of the last commit. A cell that ends by itself is not kept.
///
/// Unchecked Sendable: the tags are accessed by atomic loads and stores only.
package final class KeptCells: @unchecked Sendable {
    private static let places: UInt64 = 64
    /// The longest encoded value that is kept.
    package static let longest = 1024

    private final class Copy: Sendable {
        let commit: Int
        /// `nil` after the first of the reads as of the commit that have found their tag.
        let cell: (key: [UInt8], value: Value)?

        init(asOf commit: Int, _ cell: (key: [UInt8], value: Value)? = nil) {
            (self.commit, self.cell) = (commit, cell)
        }

        func value(of key: String) -> Value? {
            guard let cell else { return nil }
            var key = key
            let isEqual = key.withUTF8 { bytes in
                guard let start = bytes.baseAddress, bytes.count == cell.key.count else { return false }
                return memcmp(start, cell.key, bytes.count) == 0
            }
            return isEqual ? cell.value : nil
        }
    }

    /// One tag a place: that of the key that was read there last.
    private let tags = UnsafeMutablePointer<UInt64>.allocate(capacity: Int(places))
    private let copies = Mutex([Copy?](repeating: nil, count: Int(places)))

    package init() { tags.initialize(repeating: 0, count: Int(Self.places)) }

    deinit { tags.deallocate() }

    /// A number by which a key is recognized without a look at its bytes.
    ///
    /// It is computed from the string's two words; those are the bytes of a short string, and of a long string its
    /// length and its address. So different keys may have the same number, and equal long keys may have different
    /// numbers. Therefore the key of a copy that is found is compared, and a cell without a copy is read from the
    /// tables.
    @inline(__always)
    private static func tag(of key: String) -> UInt64 {
        let (first, second) = unsafeBitCast(key, to: (UInt64, UInt64).self)
        return (first &* 0x9E37_79B9_7F4A_7C15 ^ second) &* 0xC2B2_AE3D_27D4_EB4F
    }

    @inline(__always)
    private func word(_ tag: UInt64) -> (word: SharedWord64, place: Int) {
        let place = Int(truncatingIfNeeded: tag >> 58)
        return (SharedWord64(at: tags + place), place)
    }

    /// Whether a key was read lately, so that there may be a copy.
    @inline(__always)
    package func mayHave(_ key: String) -> Bool {
        let tag = Self.tag(of: key)
        return word(tag).word.loadRelaxed() == tag
    }

    /// The value of a cell as of a commit, if there is a copy.
    package func value(of key: String, asOf commit: Int) -> Value? {
        let place = word(Self.tag(of: key)).place
        guard let copy = copies.withLock({ $0[place] }), copy.commit == commit else { return nil }
        return copy.value(of: key)
    }

    /// Keeps the value that a read has found, if it is the third one of its cell as of the commit.
    @inline(__always)
    package func keep(_ value: Value, of key: String, asOf commit: Int) {
        let tag = Self.tag(of: key)
        let (word, place) = word(tag)
        guard word.loadRelaxed() == tag else { return word.storeRelaxed(tag) }
        keep(value, of: key, at: place, asOf: commit)
    }

    @inline(never)
    private func keep(_ value: Value, of key: String, at place: Int, asOf commit: Int) {
        copies.withLock { copies in
            let isSecond = copies[place]?.commit == commit
            copies[place] = Copy(asOf: commit, isSecond ? (Array(key.utf8), value) : nil)
        }
    }
}
