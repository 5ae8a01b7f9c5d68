import SpaceSystem
import SystemPackage

/// Pages of a `.durable` data file that are written, with zeros, some time before they are used.
///
/// Where a sync comes upon blocks that were reserved and never written, or a file that has become longer, it has to wait
/// for the file system's journal as well (fallocate(2) gives unwritten extents, and to mark them as written is metadata
/// that fdatasync(2) has to flush): on ext4 a sync of two new pages and an old one took 210 µs, and 130 where their blocks had been
/// written. That wait is the same for many pages as for one, so many are written at once.
///
/// Nothing is overwritten: what lies behind the file's end nobody has written, and under the gate (and LMDB's writer mutex)
/// nobody else does between the look at its length and the write. Nor does LMDB mind: a page beyond its last one is written
/// whole and never read before, and only `mdb_env_copyfd0` asks for the file's length, as a bound (mdb.c).
///
/// It is for speed alone. Where it fails, it is not tried again by this process, and LMDB writes to blocks that are reserved
/// all the same. A file system that never overwrites (btrfs) has nothing of it.
final class PagesAhead {
    /// What is written at once; as a part of a sync that takes a few hundred µs, it is hardly seen.
    private static let step = 256 << 10
    /// What is ahead of use at least, besides what is about to be added.
    private static let margin = 64 << 10
    /// A transaction with more bytes fills pages that no sync has seen, whatever was done before: each would be written
    /// twice.
    private static let largestDemand = 64 << 10

    private let descriptor: CInt
    private let pageSize: Int
    /// The file's length as last seen; it never becomes shorter.
    private var length = 0
    private var hasFailed = false

    init(descriptor: CInt, pageSize: Int) {
        self.descriptor = descriptor
        self.pageSize = pageSize
    }

    /// Writes ahead, if a transaction that adds `demand` bytes may come near the file's end.
    ///
    /// `end`: The first page behind LMDB's last. `reserved`: How many bytes of the file have blocks.
    func prepare(for demand: Int, from end: Int, reserved: Int) {
        guard demand <= Self.largestDemand, !hasFailed else { return }
        let wanted = min(end * pageSize + Self.margin + 2 * demand, reserved)
        guard wanted > length else { return }
        do throws(Errno) {
            length = try FileInfo.of(descriptor).size
            // The file can end before LMDB's last pages, which were freed in the transaction that added them; or was cut.
            // Neither gap is ours to fill.
            guard wanted > length, length >= end * pageSize else { return }
            let zeros = [UInt8](repeating: 0, count: min(max(wanted, length + Self.step), reserved) - length)
            try FileBytes.write(zeros, to: descriptor, at: length)
            length += zeros.count
        } catch {
            hasFailed = true
        }
    }
}
