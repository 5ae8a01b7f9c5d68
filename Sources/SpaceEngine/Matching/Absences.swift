import Synchronization

/// The templates of which this process knows that LMDB's tables have no match, as of LMDB's last commit.
///
/// Guarantees: what this object says of a commit holds as long as that commit is the last one, because only a commit
/// changes the tables. (A counter of LMDB's tuples beside the ring would be wrong after a kill.)
///
/// It also keeps the commit's next id. The reason: the ring may still have records of lower ids, which the commit took
/// over, and perhaps removed, if the writer was killed or stopped before it moved the ring's head.
///
/// It knows templates by shape and hash: no tuple in the tables has this hash.
final class Absences: Sendable {
    private struct Key: Equatable {
        let arity: Int
        let bound: UInt64
        let hash: UInt64

        init?(_ template: TemplateForm) {
            guard case .fields(let arity, let bound) = template.shape, bound != 0 else { return nil }
            (self.arity, self.bound, hash) = (arity, bound, template.boundHash)
        }
    }

    private struct Known {
        var commit = -1
        /// The next id by that commit's counters.
        var floor: UInt64 = 0
        var keys: [Key] = []

        mutating func begin(_ commit: Int, _ floor: UInt64) {
            guard self.commit != commit else { return }
            (self.commit, self.floor) = (commit, floor)
            keys.removeAll(keepingCapacity: true)
        }
    }

    private let known = Mutex(Known())
    /// Whether anything may be known: asking costs one load while the tables have what is looked for.
    private let mayKnow = Atomic<Bool>(false)
    /// The commit whose tables are empty, or -1, and its next id: the common case, for which a look takes no lock.
    ///
    /// A writer stores -1, the id, and then the commit. A reader that loads the same commit before and after the id has
    /// loaded that commit's id.
    private let emptyCommit = Atomic<Int>(-1)
    private let emptyFloor = Atomic<UInt64>(0)
    /// The commit as of which nothing in the tables is claimed or expires, or -1.
    private let quietCommit = Atomic<Int>(-1)
    /// A commit, or -1, and when the first claim is due as of it; stored and loaded as the next id is.
    private let dueCommit = Atomic<Int>(-1)
    private let claimDue = Atomic<Int64>(0)
    private static let mostKeys = 32

    @inline(__always)
    func hasNothingToReturn(asOf commit: Int) -> Bool { quietCommit.load(ordering: .relaxed) == commit }

    func noteNothingToReturn(asOf commit: Int) { quietCommit.store(commit, ordering: .relaxed) }

    /// When the first claim is due as of a commit, if that is known; `Int64.max`: none is, or none can return.
    @inline(__always)
    func claimDue(asOf commit: Int) -> Int64? {
        guard dueCommit.load(ordering: .acquiring) == commit else { return nil }
        let due = claimDue.load(ordering: .acquiring)
        return dueCommit.load(ordering: .relaxed) == commit ? due : nil
    }

    func note(claimDue due: Int64, asOf commit: Int) {
        known.withLock { _ in
            dueCommit.store(-1, ordering: .relaxed)
            claimDue.store(due, ordering: .releasing)
            dueCommit.store(commit, ordering: .releasing)
        }
    }

    @inline(__always)
    var mayHave: Bool { mayKnow.load(ordering: .relaxed) }

    /// The commit's next id, if its tables are known to have no match; else `nil`.
    @inline(__always)
    func floor(_ template: TemplateForm, asOf commit: Int) -> UInt64? {
        if emptyCommit.load(ordering: .acquiring) == commit {
            let floor = emptyFloor.load(ordering: .acquiring)
            if emptyCommit.load(ordering: .relaxed) == commit { return floor }
        }
        return lookUpFloor(template, asOf: commit)
    }

    private func lookUpFloor(_ template: TemplateForm, asOf commit: Int) -> UInt64? {
        known.withLock { known in
            guard known.commit == commit else {
                mayKnow.store(false, ordering: .relaxed)
                return nil
            }
            guard !known.keys.isEmpty, let key = Key(template) else { return nil }
            return known.keys.contains(key) ? known.floor : nil
        }
    }

    func noteEmpty(asOf commit: Int, floor: UInt64) {
        known.withLock { known in
            known.begin(commit, floor)
            mayKnow.store(true, ordering: .relaxed)
            emptyCommit.store(-1, ordering: .relaxed)
            emptyFloor.store(floor, ordering: .releasing)
            emptyCommit.store(commit, ordering: .releasing)
        }
    }

    func note(_ template: TemplateForm, asOf commit: Int, floor: UInt64) {
        guard let key = Key(template) else { return }
        known.withLock { known in
            known.begin(commit, floor)
            mayKnow.store(true, ordering: .relaxed)
            if known.keys.count >= Self.mostKeys { known.keys.removeAll(keepingCapacity: true) }
            known.keys.append(key)
        }
    }
}
