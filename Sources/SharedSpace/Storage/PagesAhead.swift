import SpaceSystem
import SystemPackage

/// Pages of a `.durable` data file that are written, with zeros, some time before they are used.
///
/// Where a sync comes upon blocks that were reserved and never written, or a file that has become longer, it has to wait
/// for the file system's journal as well: on ext4 that made a sync of two pages 210 µs, and 130 in a file whose blocks
/// had been written (fallocate(2) gives unwritten extents; fdatasync(2) then has metadata to flush). Once for many pages
/// that wait is the same as for one.
///
/// Only the file's end moves, within what is reserved: a page of zeros behind the last one is nothing to LMDB. All this
/// happens under the gate, and is for speed alone: where it fails, LMDB writes to blocks that are reserved all the same.
final class PagesAhead {
    /// What is written at once; as a part of a sync that takes a few hundred µs, it is hardly seen.
    private static let step = 256 << 10
    /// A transaction with more bytes fills pages that no sync has seen, whatever was done before: each would be written twice.
    private static let largestDemand = step / 4

    private let descriptor: CInt
    private let pageSize: Int
    /// The file's length, as last seen.
    private var length = 0
    private var hasFailed = false

    init(descriptor: CInt, pageSize: Int) {
        self.descriptor = descriptor
        self.pageSize = pageSize
    }

    /// Sees that the pages which a transaction may add are written.
    ///
    /// - Parameters:
    ///   - demand: What is to be added, bytes.
    ///   - end: The first page behind the last.
    ///   - reserved: How many bytes of the file have blocks.
    func ensure(_ demand: Int, from end: Int, reserved: Int) {
        let wanted = min(end * pageSize + Self.largestDemand + 2 * demand, reserved)
        guard wanted > length, demand <= Self.largestDemand, !hasFailed else { return }
        do throws(Errno) {
            // Others may have written ahead meanwhile.
            length = try FileInfo.of(descriptor).size
            guard wanted > length else { return }
            let zeros = [UInt8](repeating: 0, count: min(max(wanted, length + Self.step), reserved) - length)
            try FileBytes.write(zeros, to: descriptor, at: length)
            length += zeros.count
        } catch {
            hasFailed = true
        }
    }
}
