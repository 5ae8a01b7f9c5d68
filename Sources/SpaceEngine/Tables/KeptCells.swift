import Synchronization
package import TupleCoding

/// Copies of the cells that this process reads again and again.
///
/// A read of a cell borrows a reader and searches a tree. Of several reads of a cell as of one commit, the second keeps the
/// value; those that follow need the number of LMDB's last commit, which is one load, and a look at the copy.
///
/// Guarantees: what is found here is the cell as of the last commit. A cell that ends by itself is not kept.
package final class KeptCells: Sendable {
    private static let places = 64
    /// The longest encoded value that is kept.
    package static let longest = 1024

    /// The cell of a hash that was read last.
    private struct Place {
        var hash: UInt64 = 0
        var commit = -1
        var key: [UInt8] = []
        /// `nil` after the first read as of a commit.
        var value: Value?

        func isOf(_ hash: UInt64, asOf commit: Int) -> Bool { self.hash == hash && self.commit == commit }
    }

    private let all = Mutex([Place](repeating: Place(), count: places))

    package init() {}

    package func value(of key: String, asOf commit: Int) -> Value? {
        with(key) { (place, hash, key) in
            guard place.isOf(hash, asOf: commit), place.key.elementsEqual(key) else { return nil }
            return place.value
        }
    }

    package func keep(_ value: Value, of key: String, asOf commit: Int) {
        with(key) { (place, hash, key) in
            if place.isOf(hash, asOf: commit) {
                (place.key, place.value) = (Array(key), value)
            } else {
                (place.hash, place.commit, place.value) = (hash, commit, nil)
            }
        }
    }

    /// Passes `body` the key's place, its hash, and its bytes.
    @inline(__always)
    private func with<Result>(
        _ key: String,
        _ body: (inout Place, UInt64, UnsafeRawBufferPointer) -> Result
    ) -> Result where Result: Sendable {
        var key = key
        return key.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let hash = Hash64.hash(bytes)
            return all.withLock { body(&$0[Int(truncatingIfNeeded: hash % UInt64(Self.places))], hash, bytes) }
        }
    }
}
