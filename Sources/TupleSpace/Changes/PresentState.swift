/// The contents of a namespace at a watcher's registration, read slice by slice while other processes continue to
/// write.
///
/// Guarantees: together the slices are the tuples and cells of one moment, the registration, no matter when they are
/// read and what is taken, returned or set in the meantime. With the changes after that moment, the watcher receives
/// nothing twice and misses nothing. No snapshot is held between slices, and memory is bounded by a slice and by the
/// journal's bound.
///
/// How: each slice is read from a snapshot of its own, and the journal tells what happened between the registration
/// and that snapshot. The *first* change of a tuple or a cell since then tells its state before that change. A tuple
/// that was taken, claimed or expired by it was visible (its row in the journal contains it); a tuple that returned
/// by it was not. A cell's row contains the old value. A tuple or cell without a change since then is as it was. Each
/// row of the journal is read once; for each tuple and cell that no slice has reached yet, the number of its first
/// change is kept.
///
/// A tuple whose claim is the first half of a take counts as visible, because no watcher is told of such a claim.
///
/// If the journal drops rows from after the registration before the last slice is read, the rest is read in its
/// current state; the gap that the watcher gets next says that the two do not fit.
struct PresentState {
    /// The last change before the registration.
    let sequence: UInt64
    /// The first tuple id that was given out after the registration.
    let nextTuple: UInt64
    private let filter: ChangeFilter

    private var phase: Phase
    /// The last change of the journal that was read.
    private var scanned: UInt64
    private var firstOfTuple: [UInt64: UInt64] = [:]
    private var firstOfCell: [[UInt8]: UInt64] = [:]
    private var isExact = true

    private enum Phase {
        /// Tuples from this id on are still to be read, then the cells.
        case tuples(from: UInt64)
        /// Cells with greater keys are still to be read.
        case cells(after: [UInt8])
        /// The ordered set of this name is still to be delivered: one change, after which the watcher reads the
        /// elements itself.
        case collection(String)
        case done
    }

    /// The most rows of each table for which one snapshot is held.
    private static let rows = 4096
    /// The number of changes, and of their bytes, at which a slice ends.
    private static let sliceChanges = 256
    private static let sliceBytes = 1 << 20

    init(_ registration: Registrations.Registration, _ filter: ChangeFilter) {
        sequence = registration.present
        nextTuple = registration.nextTuple
        scanned = registration.present
        self.filter = filter
        phase = .tuples(from: 0)
        if !filter.wantsPresentTuples { endTuples() }
    }

    private mutating func endTuples() { phase = filter.wantsPresentCells ? .cells(after: []) : afterCells }

    private var afterCells: Phase {
        guard case .named(let name) = filter.collections, filter.kinds?.contains(.reset) ?? true else { return .done }
        return .collection(name)
    }

    var isDone: Bool { if case .done = phase { true } else { false } }

    /// Reads the next slice, in one snapshot.
    ///
    /// Returns the items that the filter lets through; none if reading the journal used up this turn.
    mutating func read(_ snapshot: Snapshot) throws(SpaceError) -> [Change] {
        guard try scanJournal(snapshot) else { return [] }
        return switch phase {
        case .tuples(let from): try readTuples(from: from, snapshot)
        case .cells(let key):
            if case .key(let path) = filter.cells {
                try readCells(on: path, snapshot)
            } else {
                try readCells(after: key, snapshot)
            }
        case .collection(let name): readCollection(name)
        case .done: []
        }
    }

    // MARK: The journal

    /// Reads the rows that the journal has gained since the last look.
    ///
    /// Returns whether it read all of them; if not, there is no slice this time.
    private mutating func scanJournal(_ snapshot: Snapshot) throws(SpaceError) -> Bool {
        guard isExact else { return true }
        let last = try snapshot.counters().sequence
        guard last > scanned else { return true }
        var rows = try snapshot.journal.scan(from: scanned + 1)
        for _ in 0..<Self.rows where scanned < last {
            guard let (_, row) = try rows.next(), row.sequence == scanned + 1 else {
                giveUpExactness()
                return true
            }
            scanned = row.sequence
            note(row)
        }
        return scanned == last
    }

    private mutating func note(_ row: JournalRow) {
        switch (row.kind, phase) {
        case (.post, _), (_, .collection), (_, .done): return
        case (.set, .cells(let after)), (.unset, .cells(let after)):
            let key = Array(row.name)
            guard after.lexicographicallyPrecedes(key), firstOfCell[key] == nil else { return }
            firstOfCell[key] = row.sequence
        case (.set, .tuples), (.unset, .tuples):
            guard filter.wantsPresentCells else { return }
            let key = Array(row.name)
            if firstOfCell[key] == nil { firstOfCell[key] = row.sequence }
        case (_, .tuples(let from)):
            guard row.id != 0, (from..<nextTuple).contains(row.id), firstOfTuple[row.id] == nil else { return }
            firstOfTuple[row.id] = row.sequence
        case (_, .cells): return
        }
    }

    private mutating func giveUpExactness() {
        isExact = false
        firstOfTuple = [:]
        firstOfCell = [:]
    }

    /// The row of a change since the registration; `nil` when the journal has dropped it.
    private mutating func journalRow(_ number: UInt64, _ snapshot: Snapshot) throws(SpaceError) -> JournalRow? {
        let row = try snapshot.journal.get(number)
        if row == nil { giveUpExactness() }
        return row
    }

    // MARK: Tuples

    private mutating func readTuples(from: UInt64, _ snapshot: Snapshot) throws(SpaceError) -> [Change] {
        var slice = Slice()
        var found: [(id: UInt64, tuple: Tuple)] = []
        var end = nextTuple
        func look(_ id: UInt64, _ row: TupleRow) throws(SpaceError) {
            slice.looked += 1
            let first = firstOfTuple.removeValue(forKey: id)
            // A tuple whose first change was a return was out of sight; every other tuple found here was visible.
            let wasVisible =
                try first.map { (number) throws(SpaceError) in
                    try journalRow(number, snapshot)?.endsVisibility ?? true
                } ?? true
            if wasVisible, filter.includes(present: row.encoded) {
                found.append((id, try snapshot.tuple(id, row)))
                slice.count(row.size)
            }
        }
        var rows = try snapshot.tuples.scan(from: from)
        while let (id, row) = try rows.next(), id < nextTuple {
            guard slice.hasRoom else {
                end = id
                break
            }
            let isOfTake = row.isClaimed ? try snapshot.claim(on: id)?.isTake ?? false : false
            if !row.isClaimed || isOfTake {
                try look(id, row)
            } else {
                slice.looked += 1
            }
        }
        for (id, number) in firstOfTuple where id < end {
            firstOfTuple[id] = nil
            guard let row = try journalRow(number, snapshot) else { break }
            guard row.endsVisibility, let tuple = row.tuple, filter.includes(present: tuple) else { continue }
            guard let tuple = try snapshot.change(of: row).tuple else { continue }
            found.append((id, tuple))
        }
        if end < nextTuple { phase = .tuples(from: end) } else { endTuples() }
        found.sort { $0.id < $1.id }
        return found.map { Change(present: $0.tuple, id: $0.id, at: sequence) }
    }

    // MARK: Cells

    private mutating func readCells(after: [UInt8], _ snapshot: Snapshot) throws(SpaceError) -> [Change] {
        var slice = Slice()
        var found: [(key: [UInt8], value: Value)] = []
        var end: [UInt8]?
        // No key is empty, and LMDB cannot seek an empty one.
        var rows = after.isEmpty ? try snapshot.cellsByBytes.scan() : try snapshot.cellsByBytes.scan(from: after)
        var last = after
        while let (key, now) = try rows.next() {
            if key == after { continue }
            guard slice.hasRoom else {
                end = last
                break
            }
            slice.looked += 1
            last = key
            let value = try valueBefore(key, now.element, snapshot)
            if let value, key.withUnsafeBytes({ filter.includes(presentCell: $0, value) }) {
                found.append((key, try snapshot.value(String(decoding: key, as: UTF8.self), value)))
                slice.count(key.count + value.count)
            }
        }
        // Cells that are no longer set.
        for (key, number) in firstOfCell where end.map({ !$0.lexicographicallyPrecedes(key) }) ?? true {
            firstOfCell[key] = nil
            guard let row = try journalRow(number, snapshot) else { break }
            guard let old = row.old, filter.includes(presentCell: row.name, old) else { continue }
            found.append((key, try snapshot.value(String(decoding: key, as: UTF8.self), old)))
        }
        phase = end.map { .cells(after: $0) } ?? afterCells
        found.sort { $0.key.lexicographicallyPrecedes($1.key) }
        return found.map { Change(presentCell: String(decoding: $0.key, as: UTF8.self), value: $0.value, at: sequence) }
    }

    /// Reads the few cells that a path may lead into, however many cells there are.
    private mutating func readCells(on path: String, _ snapshot: Snapshot) throws(SpaceError) -> [Change] {
        var found: [Change] = []
        for key in ChangeFilter.keys(on: path) {
            let now = try snapshot.cellsByBytes.get(key)?.element
            guard let value = try valueBefore(key, now, snapshot),
                key.withUnsafeBytes({ filter.includes(presentCell: $0, value) })
            else { continue }
            let text = String(decoding: key, as: UTF8.self)
            found.append(Change(presentCell: text, value: try snapshot.value(text, value), at: sequence))
        }
        phase = afterCells
        return found
    }

    private mutating func readCollection(_ name: String) -> [Change] {
        phase = .done
        return [Change(presentCollection: name, at: sequence)]
    }

    /// A cell's value at the registration.
    ///
    /// `now` is its value in the snapshot.
    private mutating func valueBefore(
        _ key: [UInt8],
        _ now: UnsafeRawBufferPointer?,
        _ snapshot: Snapshot
    ) throws(SpaceError) -> UnsafeRawBufferPointer? {
        guard let number = firstOfCell.removeValue(forKey: key), let row = try journalRow(number, snapshot) else {
            return now
        }
        return row.old
    }

    /// The size of a slice so far.
    private struct Slice {
        var looked = 0
        private var changes = 0
        private var bytes = 0

        var hasRoom: Bool { looked < rows && changes < sliceChanges && bytes < sliceBytes }

        mutating func count(_ size: Int) {
            changes += 1
            bytes += size
        }
    }
}
