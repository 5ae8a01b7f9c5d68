import SharedSpaceObjects
import SpaceSystem
import Synchronization

/// The changes of an ordered set, as told to an observer that lives through the whole round.
final class CollectionsJournal: Sendable {
    struct Told {
        var copy: [Int] = []
        /// The edits by process, in order.
        var edits: [Int32: [(edit: CollectionEdit<Int>, batch: UInt64)]] = [:]
        /// The state of the ordered set from a change on.
        var hashes: [(sequence: UInt64, hash: UInt64)] = []
        var misfits = 0
    }

    private let state = Mutex(Told())
    private let beginning = Signal()
    private let end = Signal()

    var told: Told { state.withLock { $0 } }

    func waitForBeginning() { beginning.wait() }
    func wait() { end.wait() }

    /// Reads until the edit that ends the round.
    func read(_ changes: CollectionChanges<Int>) async {
        do {
            for try await change in changes {
                let isLast = state.withLock { $0.note(change) }
                beginning.signal()
                if isLast { break }
            }
        } catch {
            note("the journal's reader failed: \(error)")
            state.withLock { $0.misfits += 1 }
        }
        beginning.signal()
        end.signal()
    }
}

extension CollectionsJournal.Told {
    /// Applies a change, and returns whether it was the last of the round.
    mutating func note(_ change: CollectionChange<Int>) -> Bool {
        // The first change may be a reset; a later reset would hide edits.
        if case .reset = change.event, !hashes.isEmpty { misfits += 1 }
        if !change.apply(to: &copy) { misfits += 1 }
        if case .edits(let told) = change.event {
            for edit in told { edits[change.pid, default: []].append((edit, change.batch)) }
        }
        hashes.append((change.sequence, CollectionsLedger.hash(copy)))
        return copy.last == 0
    }

    /// The state of the ordered set after a change, whether its own or another's.
    func hash(at sequence: UInt64) -> UInt64? {
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : hashes[low - 1].hash
    }
}

/// Compares the acknowledged edits with the journal, with the contents, and with the copies that observers had on the
/// way.
struct CollectionsAudit {
    private let ledger: CollectionsLedger
    private let told: CollectionsJournal.Told
    /// By element: how often its insertion was acknowledged, and how often its removal.
    private var came: [Int: Int] = [:]
    private var went: [Int: Int] = [:]
    /// Elements of an edit that was not acknowledged, or only in part.
    private var mayHaveCome: Set<Int> = []
    private var mayHaveGone: Set<Int> = []

    init(_ ledger: CollectionsLedger, _ told: CollectionsJournal.Told) {
        self.ledger = ledger
        self.told = told
    }

    mutating func judge(_ elements: [Int]) {
        _ = ledger.misfits.add(UInt64(told.misfits))
        if told.copy != elements {
            noteFault(ledger.differing, "the journal comes to another ordered set than there is")
        }
        for sample in ledger.takeSamples() where told.hash(at: sample.sequence) != sample.hash {
            noteFault(ledger.differing, "an observer's copy was another after change \(sample.sequence)")
        }
        var edits: [Int32: [CollectionsLedger.Edit]] = [:]
        for editor in 0..<ledger.editors {
            for edit in ledger.edits(of: editor) {
                edits[edit.pid, default: []].append(edit)
                tally(edit)
            }
        }
        for (pid, edits) in edits { compare(edits, with: told.edits[pid] ?? [], of: pid) }
        judge(Set(elements), isUnique: Set(elements).count == elements.count)
    }

    // MARK: The elements

    private mutating func tally(_ edit: CollectionsLedger.Edit) {
        if edit.outcome == .nothing { return }
        if edit.outcome == .open { _ = ledger.indeterminate.add(1) }
        let (coming, going): ([Int], [Int])
        switch edit.kind {
        case .insert: (coming, going) = (edit.elements, [])
        case .remove, .subtract: (coming, going) = ([], edit.elements)
        case .replace, .renew: (coming, going) = ([edit.elements[1]], [edit.elements[0]])
        case .move, .exchange, .sort: (coming, going) = ([], [])
        }
        if edit.outcome == .made {
            for element in coming { came[element, default: 0] += 1 }
            for element in going { went[element, default: 0] += 1 }
        } else {
            mayHaveCome.formUnion(coming)
            mayHaveGone.formUnion(going)
        }
    }

    private func judge(_ present: Set<Int>, isUnique: Bool) {
        if !isUnique { noteFault(ledger.doubled, "an element is there twice") }
        for (element, times) in came where times != 1 { noteFault(ledger.doubled, "\(element) came \(times) times") }
        for (element, times) in went where times != 1 { noteFault(ledger.doubled, "\(element) went \(times) times") }
        for element in present where element != 0 {
            if went[element] != nil { noteFault(ledger.doubled, "\(element) was removed, and is there") }
            if came[element] == nil, !mayHaveCome.contains(element) {
                noteFault(ledger.unexplained, "\(element) is there, and nobody inserted it")
            }
        }
        for element in came.keys where !present.contains(element) && went[element] == nil {
            if !mayHaveGone.contains(element) { noteFault(ledger.lost, "\(element) is lost") }
        }
    }

    // MARK: The edits

    /// Checks that a process's notes agree with the journal: the same edits, each once, in the same order.
    private func compare(
        _ edits: [CollectionsLedger.Edit],
        with journal: [(edit: CollectionEdit<Int>, batch: UInt64)],
        of pid: Int32
    ) {
        var rest = journal[...]
        for (index, edit) in edits.enumerated() where edit.outcome != .nothing {
            if edit.outcome == .open, index + 1 < edits.count {
                noteFault(ledger.unexplained, "\(edit) was left open by process \(pid), which went on")
            }
            if let steps = edit.steps(in: rest) {
                rest = rest.dropFirst(steps)
            } else if edit.outcome == .made {
                let next = rest.first.map { "\($0.edit)" } ?? "nothing"
                noteFault(ledger.unmade, "\(edit) was acknowledged, and the journal has \(next)")
            }
        }
        if let edit = rest.first?.edit {
            noteFault(ledger.unexplained, "process \(pid) made \(edit), and says so nowhere")
        }
    }
}

extension CollectionsLedger.Edit {
    /// Returns how many of the journal's next edits are this one; `nil` when they are not.
    fileprivate func steps(in journal: ArraySlice<(edit: CollectionEdit<Int>, batch: UInt64)>) -> Int? {
        guard let first = journal.first else { return nil }
        let isThis: Bool
        switch (kind, first.edit) {
        case (.insert, .insert(let new, _)): isThis = new == elements
        case (.remove, .remove(let gone, _)): isThis = gone == elements
        case (.subtract, .remove(let gone, _)):
            isThis = Set(gone).isSubset(of: elements) && (outcome != .made || gone.count == elements.count)
        case (.replace, .replace(let old, let new, _)): isThis = [old, new] == elements
        case (.move, .move(let moved, _, _)): isThis = moved == elements
        case (.exchange, .exchange(let left, let right, _, _)): isThis = Set([left, right]) == Set(elements)
        case (.sort, .sort): isThis = true
        case (.renew, .remove(let gone, _)):
            guard let second = journal.dropFirst().first, case .insert(let new, _) = second.edit else { return nil }
            return gone + new == elements && first.batch == second.batch ? 2 : nil
        default: isThis = false
        }
        return isThis ? 1 : nil
    }
}
