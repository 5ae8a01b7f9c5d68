import SpaceSystem

/// The changes of a transaction's body, as far as any other process will ever see them.
///
/// They are kept here until the body has returned, and only then numbered and journaled. Tuples that the body itself
/// wrote and took, and cell values that it set and replaced, never were in the space, so watchers do not see them.
///
/// It is an object, so that adding to it needs no checks of exclusive access to its owner.
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

    /// The tuples from this id on were written by the body itself.
    private let firstNew: UInt64
    private var entries: [Entry?] = []
    /// The places of the entries about the body's own tuples, and about cells.
    private var ofTuples: [UInt64: [Int]] = [:]
    private var ofCells: [Name: Int] = [:]

    init(firstNew: UInt64) { self.firstNew = firstNew }

    /// The remaining entries, in order.
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
            // The body claimed and released the tuple, so the result is the same as if it had only written it.
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
    /// Holds changes back from now on, until ``endNet()``.
    package func beginNet() { net = NetChanges(firstNew: counters.nextTuple) }

    /// Numbers and journals the net changes of a body.
    package func endNet() throws(SpaceError) {
        guard let changes = net else { return }
        net = nil
        for entry in changes.all {
            try entry.old.withBytes { (old) throws(SpaceError) in
                try entry.new.withBytes { (new) throws(SpaceError) in
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
}

extension [UInt8]? {
    /// Calls `body` with the bytes, if there are any.
    fileprivate func withBytes(_ body: (UnsafeRawBufferPointer?) throws(SpaceError) -> Void) throws(SpaceError) {
        guard let bytes = self else { return try body(nil) }
        try bytes.withBytes { (bytes) throws(SpaceError) in try body(bytes) }
    }
}
