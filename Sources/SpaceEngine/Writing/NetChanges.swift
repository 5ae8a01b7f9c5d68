import SpaceSystem
import TupleCoding

/// What a transaction's body has changed, as far as anybody outside will ever see it.
///
/// The changes of a body are kept here until it has returned, and only then numbered and journaled: what it wrote and took
/// itself, and values of cells that it replaced itself, never were in the space, so no watcher is told of them.
///
/// An object, so that it is added to without checks of exclusive access to who keeps it.
package final class NetChanges {
    package struct Entry {
        package let kind: ChangeKind
        package let id: UInt64
        package let isRecord: Bool
        package let name: String
        package var old: [UInt8]?
        package let new: [UInt8]?
        package let endsVisibility: Bool
    }

    /// Tuples from this id on were written by the body itself.
    private let firstNew: UInt64
    private var entries: [Entry?] = []
    /// The places of what happened to the body's own tuples, and to cells.
    private var ofTuples: [UInt64: [Int]] = [:]
    private var ofCells: [Name: Int] = [:]

    init(firstNew: UInt64) { self.firstNew = firstNew }

    /// What is left, in order.
    package var all: some Sequence<Entry> { entries.lazy.compactMap { $0 } }

    package func add(_ entry: Entry) {
        switch entry.kind {
        case .set, .unset: addCell(entry)
        case _ where entry.id >= firstNew: addToOwn(entry)
        default: entries.append(entry)
        }
    }

    private func addToOwn(_ entry: Entry) {
        switch entry.kind {
        case .take, .expire, .complete:
            for place in ofTuples.removeValue(forKey: entry.id) ?? [] { entries[place] = nil }
        case .return:
            // Claimed and released by the body: as if it had only been written.
            for place in ofTuples[entry.id]?.dropFirst() ?? [] { entries[place] = nil }
        default:
            ofTuples[entry.id, default: []].append(entries.count)
            entries.append(entry)
        }
    }

    private func addCell(_ entry: Entry) {
        var entry = entry
        let name = Name(entry.name)
        if let place = ofCells.removeValue(forKey: name), let earlier = entries[place] {
            entries[place] = nil
            entry.old = earlier.old
            if entry.kind == .unset, earlier.old == nil { return }
        }
        ofCells[name] = entries.count
        entries.append(entry)
    }
}

extension WriteScope {
    /// From now on changes are kept back, until ``settle()``.
    package func beginNet() { net = NetChanges(firstNew: counters.nextTuple) }

    /// Numbers and journals what a body's changes come to.
    package func settle() throws(SpaceError) {
        guard let changes = net else { return }
        net = nil
        for entry in changes.all {
            try withOptional(entry.old) { (old) throws(SpaceError) in
                try withOptional(entry.new) { (new) throws(SpaceError) in
                    try note(
                        entry.kind,
                        id: entry.id,
                        isRecord: entry.isRecord,
                        name: entry.name,
                        old: old,
                        new: new,
                        endsVisibility: entry.endsVisibility
                    )
                }
            }
        }
    }

    private func withOptional(
        _ bytes: [UInt8]?,
        _ body: (UnsafeRawBufferPointer?) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        guard let bytes else { return try body(nil) }
        try bytes.withBytes { (bytes) throws(SpaceError) in try body(bytes) }
    }
}
