import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// The state of a `.durable` namespace after a power loss.
///
/// The test records everything that LMDB writes to its data file, and opens the file that each moment would have left,
/// as after a reboot.
///
/// A moment is a prefix of the writes. Of the writes since the last sync, any may moreover be missing, because a disk
/// may write in any order until it is told to sync; the test tries some of the combinations. A write is whole or
/// absent, as LMDB relies on for the page that says which state counts. The control file is taken as it was before the
/// work; after a reboot only its header is used. No real device is cut off here.
@Suite(.timeLimit(.minutes(5)))
struct PowerLossTests {
    private enum Record {
        case written(offset: Int, [UInt8])
        case synced
        case mark(Int)
    }

    private let root: TemporaryRoot
    private let base: TemporaryRoot
    private let records: [Record]

    private static let operations = 40

    /// Records a process at work.
    init() throws {
        root = try TemporaryRoot()
        base = try TemporaryRoot()
        let log = "\(root.path)/.log"
        let worker = try Agent(program: "space-write-recorder", [root.path, log, "\(Self.operations)"])
        guard try worker.line() == "ready" else { throw TestFailure("the recorder does not start") }
        // No process writes now, so a copy is of one moment.
        try base.copyTree("n", from: root)
        let done = try worker.ask("go")
        try worker.kill()
        records = try Self.decode(try root.bytes(of: ".log"))
        let writes = records.count { if case .written = $0 { true } else { false } }
        // The recorder must see LMDB's work: for each commit at least a data page, a sync and a meta page.
        guard done.hasPrefix("done "), writes >= Self.operations * 4 else {
            throw TestFailure("the recorder saw \(writes) writes, and says: \(done)")
        }
    }

    private static func decode(_ bytes: [UInt8]) throws -> [Record] {
        var records: [Record] = []
        var position = 0
        while position + 13 <= bytes.count {
            let (number, length) = bytes.withUnsafeBytes {
                (
                    Int($0.loadUnaligned(fromByteOffset: position + 1, as: UInt64.self)),
                    Int($0.loadUnaligned(fromByteOffset: position + 9, as: UInt32.self))
                )
            }
            let content = Array(bytes[position + 13..<position + 13 + length])
            switch bytes[position] {
            case UInt8(ascii: "w"): records.append(.written(offset: number, content))
            case UInt8(ascii: "s"): records.append(.synced)
            case UInt8(ascii: "m"): records.append(.mark(number))
            default: throw TestFailure("the log has a record of kind \(bytes[position])")
            }
            position += 13 + length
        }
        return records
    }

    /// The fields of the tuples that must be there after `count` operations, in order.
    private func expected(after count: Int) -> [Int] {
        var numbers: [Int] = []
        for number in stride(from: 1, through: count, by: 1) {
            if number % 4 == 3 { numbers.removeFirst() } else { numbers.append(number) }
        }
        return numbers
    }

    /// Opens the state that a power loss would have left, and checks that it is the state after an operation and that
    /// no acknowledged operation is missing.
    private func check(_ writes: [(offset: Int, bytes: [UInt8])], acknowledged: Int, _ moment: String) throws {
        let copy = try TemporaryRoot()
        try copy.copyTree("n", from: base)
        for write in writes { try copy.overwrite("n/data.mdb", write.bytes, at: write.offset) }
        try copy.pretendReboot()
        let namespace = try copy.space.namespace("n")
        #expect(try namespace.verify() == [], "\(moment)")
        let numbers = try namespace.readAll().map { tuple in
            guard case .int(let number) = tuple.fields[1] else { throw TestFailure("\(moment): \(tuple)") }
            return number
        }
        let last: Int = try namespace.get("last") ?? 0
        // An operation is two commits, the tuple's and the cell's: the tuple may be one ahead.
        #expect(numbers == expected(after: last) || numbers == expected(after: last + 1), "\(moment)")
        #expect(last >= acknowledged, "\(moment)")
        // The namespace can be written to.
        try namespace.write("after", 1)
        #expect(try namespace.verify() == [], "\(moment)")
    }

    @Test func everyPrefixOfTheWritesOpens() throws {
        var writes: [(offset: Int, bytes: [UInt8])] = []
        var acknowledged = 0
        try check(writes, acknowledged: 0, "at the beginning")
        for (index, record) in records.enumerated() {
            switch record {
            case .mark(let number): acknowledged = number
            case .synced: continue
            case .written(let offset, let bytes): writes.append((offset, bytes))
            }
            try check(writes, acknowledged: acknowledged, "after record \(index)")
        }
        #expect(acknowledged == Self.operations)
    }

    /// A disk may have written some of the unsynced writes, but not earlier ones.
    @Test func whatWasNotSyncedMayBeMissing() throws {
        var random = SystemRandomNumberGenerator()
        var durable: [(offset: Int, bytes: [UInt8])] = []
        var pending: [(offset: Int, bytes: [UInt8])] = []
        var acknowledged = 0
        for (index, record) in records.enumerated() {
            switch record {
            case .mark(let number): acknowledged = number
            case .synced:
                durable += pending
                pending = []
            case .written(let offset, let bytes):
                // LMDB writes its two meta pages through a descriptor of its own that syncs each write (mdb.c, me_mfd).
                if offset < 2 * 4096 { durable.append((offset, bytes)) } else { pending.append((offset, bytes)) }
                let some = pending.filter { _ in Bool.random(using: &random) }
                try check(
                    durable + some,
                    acknowledged: acknowledged,
                    "after record \(index), with \(some.count) of them"
                )
            }
        }
    }

    /// Shows that the test can fail: without the sync before the meta page, some states are damaged.
    @Test func withoutTheSyncItIsLost() throws {
        var metaPages: [(offset: Int, bytes: [UInt8])] = []
        var damaged = 0
        for record in records {
            guard case .written(let offset, let bytes) = record, offset < 2 * 4096 else { continue }
            // The meta pages alone, as if no page that they lead to had reached the disk.
            metaPages.append((offset, bytes))
            let copy = try TemporaryRoot()
            try copy.copyTree("n", from: base)
            for write in metaPages { try copy.overwrite("n/data.mdb", write.bytes, at: write.offset) }
            try copy.pretendReboot()
            let isWhole = (try? copy.space.namespace("n").verify()) == []
            if !isWhole { damaged += 1 }
            if damaged > 2 { break }
        }
        #expect(damaged > 0)
    }
}
