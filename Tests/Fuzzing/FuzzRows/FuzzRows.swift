// Damaged rows in every table, as a stray pointer of another client, or a bad memory cell, could leave them. Whatever a
// row holds, an operation that meets it ends with a result or a `SpaceError`, and the namespace can be deleted.

import FuzzSupport
import SharedSpace

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

private let playground = Playground("rows")

/// Runs one input: a sequence of changes to rows, each a table, a row, and the kind of change.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    playground.clear()
    do throws(SpaceError) {
        let namespace = try playground.filled()
        // Many searches by the same field earn the namespace an index.
        if input.byte() & 1 == 1 {
            for _ in 0..<200 { _ = try namespace.count(matching: [.any, 2, .any]) }
        }
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            while !input.isEmpty { try damage(scope, &input) }
            scope.noteUpkeep()
        }
        // A process knows its own counters without reading them, until one of its transactions commits nothing: then it
        // reads and checks the stored ones, as any other process does.
        try? namespace.core.write(.removing) { _ in }
        playground.useAll(of: namespace)
        try? namespace.leave()
        playground.useAgain()
    } catch {
        fatalError("an undamaged namespace: \(error)")
    }
    return 0
}

private func damage(_ scope: WriteScope, _ input: inout Input) throws(SpaceError) {
    let tables = [
        scope.tables.tuples, scope.tables.index, scope.tables.shapes, scope.tables.cells, scope.tables.claims,
        scope.tables.expiries, scope.tables.watchers, scope.tables.journal, scope.tables.objects,
        scope.tables.elements, scope.tables.holds,
    ]
    let choice = input.number(below: tables.count + 1)
    guard choice < tables.count else { return damageCounters(scope, &input) }
    let rows: Table<[UInt8], UnsafeRawBufferPointer> = scope.table(tables[choice])
    let row = input.number(below: 8)
    let kind = input.byte() % 4
    let (offset, bytes) = (input.number(below: 64), input.bytes(atMost: 64))
    var first: [(key: [UInt8], value: [UInt8])] = []
    var scan = try rows.scan()
    while first.count <= row, let (key, value) = try scan.next() { first.append((key, Array(value))) }
    let found = first.isEmpty ? nil : first[min(row, first.count - 1)]
    var (key, value) = found ?? ([0], [])
    switch kind {
    case 0:
        for (index, byte) in bytes.enumerated() where offset + index < value.count { value[offset + index] = byte }
    case 1:
        value.removeLast(min(offset, value.count))
    case 2:
        value += bytes
    default:
        if offset & 1 == 0 { try rows.delete(key) }
        if !bytes.isEmpty { key = bytes }
    }
    try rows.put(key, value)
}

private func damageCounters(_ scope: WriteScope, _ input: inout Input) {
    let value = input.bytes(atMost: 8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    switch input.byte() % 10 {
    case 0: scope.counters.nextTuple = value
    case 1: scope.counters.sequence = value
    case 2: scope.counters.nextNumber = value
    case 3: scope.counters.expiring = value
    case 4: scope.counters.claimed = value
    case 5: scope.counters.watchers = value
    case 6: scope.counters.journalFirst = value
    case 7: scope.counters.nextObject = value
    case 8: scope.counters.holds = value
    default: scope.counters.journalBytes = value
    }
}
