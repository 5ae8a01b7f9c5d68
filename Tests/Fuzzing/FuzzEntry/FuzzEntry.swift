// An entry of the machines' log with right checksums and damaged changes of rows, as a machine with a fault could append
// it. A replica takes it as a whole or refuses it; whatever it holds, an operation after it ends with a result or a
// `SpaceError`, and the namespace can be deleted.

import FuzzSupport
import SharedSpace

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

private let playground = Playground("entry")

/// Runs one input: whether its bytes are the changes themselves; if not, changes of the rows that are there, each a row
/// and what of it differs.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    playground.clear()
    do throws(SpaceError) {
        let namespace = try playground.filled()
        let engine = namespace.core.engine
        let changes = try input.byte() & 1 == 1 ? input.bytes(atMost: 255) : changedRows(of: namespace, &input)
        // A log from here on, as a replica has it.
        let position = LogPosition(entry: 1, end: 0, link: 1)
        try engine.log.commitUnlogged { () throws(SpaceError) in
            try engine.scope.log.begin(at: position, path: LogRow.ofMembers, isStandby: false)
        }
        _ = try? engine.log.apply(EntryBytes(entry(of: changes, behind: position)))
        // Without the log again, so that the operations below write without a daemon.
        try? engine.log.commitUnlogged { () throws(SpaceError) in try engine.scope.log.end() }
        playground.useAll(of: namespace)
        try? namespace.leave()
    } catch {
        fatalError("an undamaged namespace: \(error)")
    }
    playground.useAgain()
    return 0
}

/// Changes of rows that the namespace has.
private func changedRows(of namespace: Namespace, _ input: inout Input) throws(SpaceError) -> [UInt8] {
    var rows: [(table: Int, key: [UInt8], value: [UInt8])] = []
    try namespace.core.read { (snapshot) throws(SpaceError) in
        try snapshot.forEachRow { (row) throws(SpaceError) in
            rows.append((row.table, Array(row.key), Array(row.value!)))
        }
    }
    var changes: [UInt8] = []
    for _ in 0..<16 where !input.isEmpty {
        var row = rows[input.number(below: rows.count)]
        let kind = input.byte()
        let offset = input.number(below: max(1, row.value.count))
        let bytes = input.bytes(atMost: 32)
        if kind & 1 == 1, !row.key.isEmpty { row.key[offset % row.key.count] ^= kind }
        row.value.replaceSubrange(offset..<min(row.value.count, offset + bytes.count), with: bytes)
        if kind & 2 == 2 { row.value.removeLast(min(row.value.count, Int(kind) >> 3)) }
        row.key.withUnsafeBytes { key in
            row.value.withUnsafeBytes { value in
                RowChange(table: row.table, key: key, value: kind & 4 == 4 ? nil : value).append(to: &changes)
            }
        }
    }
    return changes
}

/// An entry of one chunk.
private func entry(of changes: [UInt8], behind position: LogPosition) -> [UInt8] {
    var chunk = LogChunk(behind: position, LogMoment(sequence: 1, time: 0, isPersistent: true, clock: 0))
    chunk.isLast = true
    chunk.count = changes.count
    chunk.hash = hash64(changes)
    return chunk.encoded + changes
}
