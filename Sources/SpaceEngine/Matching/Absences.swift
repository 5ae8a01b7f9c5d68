import Synchronization
import TupleCoding

/// The templates of which this process knows that LMDB's tables have no match, as of LMDB's last commit.
///
/// Guarantees: what is said of a commit holds as long as that commit is the last one, because only a commit changes the
/// tables. (A counter of LMDB's tuples beside the ring would be wrong after a kill.)
///
/// The commit's next id belongs to what is known: the ring may still have records of lower ids, which the commit took
/// over, and perhaps removed, and whose writer was killed or stopped before it moved the ring's head.
///
/// It knows templates by shape and hash: no tuple in the tables has this hash.
final class Absences: Sendable {
    private struct Key: Equatable {
        let arity: Int
        let bound: UInt64
        let hash: UInt64

        init?(_ template: Template) {
            guard case .fields(let arity, let bound) = template.shape, bound != 0 else { return nil }
            (self.arity, self.bound, hash) = (arity, bound, template.boundHash)
        }
    }

    private struct Known {
        var commit = -1
        /// The next id by that commit's counters.
        var floor: UInt64 = 0
        /// Whether the tables have no tuple at all.
        var isEmpty = false
        var keys: [Key] = []

        mutating func begin(_ commit: Int, _ floor: UInt64) {
            guard self.commit != commit else { return }
            (self.commit, self.floor) = (commit, floor)
            isEmpty = false
            keys.removeAll(keepingCapacity: true)
        }
    }

    private let known = Mutex(Known())
    /// Whether anything may be known: asking costs one load while the tables have what is looked for.
    private let mayKnow = Atomic<Bool>(false)
    private static let mostKeys = 32

    @inline(__always)
    var mayHave: Bool { mayKnow.load(ordering: .relaxed) }

    /// The commit's next id, if its tables are known to have no match; else `nil`.
    @inline(__always)
    func floor(_ template: Template, asOf commit: Int) -> UInt64? {
        known.withLock { known in
            guard known.commit == commit else {
                mayKnow.store(false, ordering: .relaxed)
                return nil
            }
            if known.isEmpty { return known.floor }
            guard !known.keys.isEmpty, let key = Key(template) else { return nil }
            return known.keys.contains(key) ? known.floor : nil
        }
    }

    func noteEmpty(asOf commit: Int, floor: UInt64) {
        known.withLock { known in
            known.begin(commit, floor)
            mayKnow.store(true, ordering: .relaxed)
            known.isEmpty = true
        }
    }

    func note(_ template: Template, asOf commit: Int, floor: UInt64) {
        guard let key = Key(template) else { return }
        known.withLock { known in
            known.begin(commit, floor)
            mayKnow.store(true, ordering: .relaxed)
            if known.keys.count >= Self.mostKeys { known.keys.removeAll(keepingCapacity: true) }
            known.keys.append(key)
        }
    }
}
