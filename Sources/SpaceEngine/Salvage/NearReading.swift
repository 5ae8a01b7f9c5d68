import Glibc
import SpaceSystem
import SystemPackage
import TupleCoding

/// The tuples of the near end, visible and claimed, read from a control file that may be damaged, and that processes may be changing.
package struct NearReading {
    /// The visible tuples, in the order of their ids.
    package private(set) var tuples: [(id: UInt64, row: SalvagedRows.Row)] = []
    /// The claimed tuples, each under its id as a row of the table of claims.
    package private(set) var claims: [SalvagedRows.Row] = []
    /// The damage, one sentence each.
    package private(set) var faults: [String] = []
    /// Whether the ring changed while it was read, at each attempt.
    package private(set) var isUnsettled = false

    private static let attempts = 64

    /// Reads the ring of a folder's control file; nothing if there is no such file.
    ///
    /// - Parameters:
    ///   - folder: The namespace's folder.
    ///   - next: The next id by the counters of the data file, below which the data file has all tuples.
    package init(_ folder: borrowing NamespaceFolder, next: UInt64) {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard
            let file = try? OwnedDescriptor.openat(
                directory: folder.descriptor.raw,
                NamespaceFolder.control,
                flags: flags
            ), (try? FileInfo.of(file.raw))?.kind == .regular
        else { return }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: NearRing.byteCount, alignment: 64)
        defer { memory.deallocate() }
        for _ in 0..<Self.attempts {
            guard ControlFile.readNear(file.raw, into: memory) else {
                faults.append("the control file ends before the newest tuples")
                return
            }
            let ring = NearRing(at: memory.baseAddress!)
            let word = ring.word.load()
            isUnsettled = ControlFile.nearWord(file.raw) != word
            if !isUnsettled { break }
        }
        read(NearRing(at: memory.baseAddress!), next)
    }

    private mutating func read(_ ring: NearRing, _ next: UInt64) {
        let (head, tail) = (ring.head.load(), ring.tail.load())
        guard ring.isSound(head, tail) else {
            faults.append("the bounds of the newest tuples make no sense")
            return
        }
        for id in max(head, next)..<max(head, next, tail) {
            let record = ring.record(id)
            guard record.isHere(id) else { continue }
            guard let tuple = ring.tuple(of: record) else {
                faults.append("tuple \(id), one of the newest, is damaged")
                continue
            }
            let key = Array(bigEndian: id)
            if let (holder, number, row) = ring.claimRow(id) {
                let claim = row.withUnsafeBytes { bytes in
                    ClaimRow(holder: holder, number: number, deadline: 0, tupleBytes: bytes).copied()
                }
                claims.append(SalvagedRows.Row(key: key, value: claim))
            } else {
                tuples.append((id, SalvagedRows.Row(key: key, value: TupleRow(tuple).copied())))
            }
        }
    }
}

extension Array<UInt8> {
    fileprivate init(bigEndian number: UInt64) { self = Swift.withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
