import SpaceSystem
import SystemPackage

/// Pages of a `.durable` data file that are written, with zeros, some time before they are used.
///
/// If a sync meets blocks that were reserved and never written, or a file that has become longer, it also has to wait
/// for the file system's journal. (fallocate(2) gives unwritten extents; marking them as written is metadata that
/// fdatasync(2) has to flush.) On ext4, a sync of two new pages and an old one took 210 µs, and 130 µs if their blocks
/// had been written. That wait is the same for many pages as for one, so many are written at once.
///
/// Nothing is overwritten. The space after the file's end was never written. Under the gate (and LMDB's writer mutex)
/// no other process writes there between the look at the file's length and the write. LMDB is not disturbed either: it
/// writes a page beyond its last one whole, without reading it before, and only `mdb_env_copyfd0` asks for the file's
/// length, as a bound (mdb.c).
///
/// The only purpose is speed. If writing ahead fails, this process does not try it again, and LMDB writes to the
/// reserved blocks as they are. A file system that never overwrites (btrfs) gains nothing from it.
final class PagesAhead {
    /// How much is written at once; as a part of a sync that takes a few hundred µs, it hardly costs time.
    private static let step = 256 << 10
    /// How much is written ahead at least, besides what is about to be added.
    private static let margin = 64 << 10
    /// The largest demand for which pages are written ahead.
    ///
    /// A larger transaction fills pages that no sync has seen, whatever was done before, so each would be written
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

    /// Writes ahead if a transaction that adds `demand` bytes may come near the file's end.
    ///
    /// `end` is the first page after LMDB's last one. `reserved` is how many bytes of the file have blocks.
    func prepare(for demand: Int, from end: Int, reserved: Int) {
        guard demand <= Self.largestDemand, !hasFailed else { return }
        let wanted = min(end * pageSize + Self.margin + 2 * demand, reserved)
        guard wanted > length else { return }
        do throws(Errno) {
            length = try FileInfo.of(descriptor).size
            // The file may end before LMDB's last pages: the transaction that added these also freed them, or the file
            // was truncated. Neither gap may be filled here.
            guard wanted > length, length >= end * pageSize else { return }
            let zeros = [UInt8](repeating: 0, count: min(max(wanted, length + Self.step), reserved) - length)
            try FileBytes.write(zeros, to: descriptor, at: length)
            length += zeros.count
        } catch {
            hasFailed = true
        }
    }
}
