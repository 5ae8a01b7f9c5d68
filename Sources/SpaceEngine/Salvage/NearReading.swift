import Glibc
import SpaceSystem
import SystemPackage
import TupleCoding

/// The tuples of the near end, visible and claimed, read from a control file that may be damaged, and that processes may be changing.
package struct NearReading {
    /// The visible tuples, in the order of their ids.
    package private(set) var tuples: [(id: UInt64, row: SalvagedRows.Row)] = []
    /// The claimed tuples, each under its id as a row of the table of claims.
    package private(set) var claims: [(id: UInt64, row: SalvagedRows.Row)] = []
    /// The marks: the ids of tuples of the data file that were taken, or are claimed by a holder with a number.
    private var marks: [(id: UInt64, claim: (holder: ClaimHolder, number: UInt64)?)] = []
    private var generation: UInt64 = 0
    /// The tuples whose records are invalid; if the data file has such a tuple too, it is not lost.
    package private(set) var damaged: [UInt64] = []
    /// Other damage, one sentence each.
    package private(set) var faults: [String] = []
    /// Whether the ring changed while it was read, at each attempt.
    package private(set) var isUnsettled = false

    private static let attempts = 64

    /// Reads the ring of a folder's control file; nothing if there is no such file.
    ///
    /// The data file has the tuples of ids below the next one by its counters, even if the ring still has them.
    package init(_ folder: borrowing NamespaceFolder) {
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
        read(NearRing(at: memory.baseAddress!))
    }

    /// The tuples of the data file that were taken or are claimed, by what its counters say of the marks.
    ///
    /// A claimed one comes as the row of its claim, made of its own row.
    package func marked(
        beside applied: UInt64
    ) -> [UInt64: (_ row: SalvagedRows.Row) -> SalvagedRows.Row?] {
        var marked: [UInt64: (SalvagedRows.Row) -> SalvagedRows.Row?] = [:]
        for (id, claim) in marks.prefix(NearMarks.count(generation, beside: applied)) {
            marked[id] = { row in
                guard let claim else { return nil }
                let value = row.value.withUnsafeBytes { bytes in
                    ClaimRow(holder: claim.holder, number: claim.number, deadline: 0, tupleBytes: bytes).copied()
                }
                return SalvagedRows.Row(key: row.key, value: value)
            }
        }
        return marked
    }

    private mutating func read(_ ring: NearRing) {
        generation = ring.marks.countWord
        if ring.marks.isSound {
            marks = (0..<ring.marks.count).map { place in
                let claim =
                    ring.marks.isClaimed(place)
                    ? (ClaimHolder(raw: ring.marks.holder(place)), ring.marks.number(place)) : nil
                return (ring.marks.id(place), claim)
            }
        } else {
            faults.append("the number of marks makes no sense; what was taken lately may be among this")
        }
        let (head, tail) = (ring.head.load(), ring.tail.load())
        guard ring.isSound(head, tail) else {
            faults.append("the bounds of the newest tuples make no sense")
            return
        }
        for id in head..<tail {
            let record = ring.record(id)
            if record.isTaken(id) { continue }
            guard record.isHere(id), let tuple = ring.tuple(of: record) else {
                // A record that changes is torn, and not damaged.
                if !isUnsettled { damaged.append(id) }
                continue
            }
            let key = Array(bigEndian: id)
            if let (holder, number, row) = ring.claimRow(id) {
                let claim = row.withUnsafeBytes { bytes in
                    ClaimRow(holder: holder, number: number, deadline: 0, tupleBytes: bytes).copied()
                }
                claims.append((id, SalvagedRows.Row(key: key, value: claim)))
            } else {
                tuples.append((id, SalvagedRows.Row(key: key, value: TupleRow(tuple, record.origin).copied())))
            }
        }
    }
}

extension Array<UInt8> {
    fileprivate init(bigEndian number: UInt64) { self = Swift.withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
