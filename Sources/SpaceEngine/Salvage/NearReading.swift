import Glibc
import SpaceSystem

/// The tuples of the near end, visible and claimed, read from a control file that may be damaged, and that processes may
/// be changing.
package struct NearReading {
    /// The visible tuples, in the order of their ids.
    package private(set) var tuples: [(id: UInt64, row: SalvagedRows.Row)] = []
    /// The claimed tuples and the claims on them.
    package private(set) var claims: [(id: UInt64, row: SalvagedRows.Row, claim: ClaimRow)] = []
    /// The marks: the ids of tuples of the data file that were taken, or are claimed.
    private var marks: [(id: UInt64, claim: ClaimRow?)] = []
    private var generation: UInt64 = 0
    /// The tuples whose records are invalid; if the data file has such a tuple too, it is not lost.
    package private(set) var damaged: [UInt64] = []
    /// Other damage, one sentence each.
    package private(set) var faults: [String] = []
    /// Whether the ring changed while it was read, at each attempt.
    package private(set) var isTorn = false

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
            isTorn = ControlFile.nearWord(file.raw) != word
            if !isTorn { break }
        }
        read(NearRing(at: memory.baseAddress!))
    }

    /// The tuples of the data file that were taken, or are claimed by a claim, by what its counters say of the marks.
    package func marked(beside applied: UInt64) -> [UInt64: ClaimRow?] {
        let marks = marks.prefix(NearMarks.count(generation, beside: applied))
        return Dictionary(marks.map { ($0.id, $0.claim) }) { _, last in last }
    }

    private mutating func read(_ ring: NearRing) {
        generation = ring.marks.countWord
        if ring.marks.isSound {
            marks = (0..<ring.marks.count).map { (ring.marks.id($0), ring.marks.claim($0)) }
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
                if !isTorn { damaged.append(id) }
                continue
            }
            let key = Array(bigEndian: id)
            if let (claim, tuple) = ring.claimed(id) {
                claims.append((id, SalvagedRows.Row(key: key, value: tuple.copied()), claim))
            } else {
                tuples.append((id, SalvagedRows.Row(key: key, value: TupleRow(tuple, record.origin).copied())))
            }
        }
    }
}

extension Array<UInt8> {
    fileprivate init(bigEndian number: UInt64) { self = Swift.withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
