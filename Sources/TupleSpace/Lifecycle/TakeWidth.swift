import Synchronization

/// How many tuples a take names, so that one is left for it when others take at the same time: a guess from what became
/// of the takes before.
struct TakeWidth: ~Copyable {
    private let width = Atomic<Int>(1)

    /// The most tuples that a take names.
    static let most = 64

    var value: Int { width.load(ordering: .relaxed) }

    /// All that were named had been taken by others.
    func noteLoss() { width.store(min(Self.most, 2 * value), ordering: .relaxed) }

    /// The tuple at this place was left: twice as many are enough, and a little less than now.
    func note(taken index: Int) {
        let (now, wanted) = (value, min(Self.most, 2 * index + 1))
        let next = wanted >= now ? wanted : now - (now - wanted + 3) / 4
        if next != now { width.store(next, ordering: .relaxed) }
    }
}
