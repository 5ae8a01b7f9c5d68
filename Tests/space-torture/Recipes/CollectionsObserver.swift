import Glibc
import SeededRandom
import SharedSpaceObjects
import SpaceSystem
import Synchronization

/// One life of an observer: it applies each change to a copy, and compares the copy with the set at the end.
///
/// Some observers are called, some read a sequence, and some resume the copy of the life before, by a subscription that
/// waits for them.
struct CollectionsObserver: Sendable {
    let ledger: CollectionsLedger
    let observer: Int
    let plant: Options.Plant?

    private static let subscription = "copy"

    func live(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let set = try namespace.orderedSet(CollectionsLedger.name, of: Int.self)
        let copy = ObservedCopy(ledger, skips: plant == .unheard && observer == 0)
        let options: CollectionObservationOptions =
            Bool.random(using: &generator) ? [.initial] : [.initial, .movesAsPairs]
        switch observer {
        case 0:
            let token = try set.observe(options: options) { copy.note($0) }
            isReady()
            copy.waitForEnd()
            token.cancel()
        case 1:
            let changes = try set.changes(options: options)
            isReady()
            try runTask {
                for try await change in changes where copy.note(change) { break }
            }
        default:
            let kept = ledger.keptCopy()
            let changes = try namespace.changes(
                .collection(CollectionsLedger.name),
                from: .subscription(Self.subscription)
            )
            if let kept {
                copy.begin(kept.copy, at: kept.sequence)
                _ = ledger.resumed.add(1)
            }
            isReady()
            // The life before was told the last edit, and was killed after it had acknowledged it: no change follows.
            if copy.elements.last == 0 { break }
            try runTask {
                for try await change in changes {
                    let isEnd = copy.note(change)
                    copy.keep()
                    try changes.acknowledge(through: change.sequence)
                    if isEnd { break }
                }
            }
        }
        _ = ledger.compared.add(1)
        let elements = try set.elements()
        if elements != copy.elements {
            note("observer \(observer): its copy has \(copy.elements.count) elements, of \(elements.count)")
            _ = ledger.differing.add(1)
        }
    }

    private func isReady() { _ = ledger.ready.setBits(1 << UInt64(observer)) }
}

/// The copy that an observer has made of the changes it was told.
private final class ObservedCopy: Sendable {
    private struct State {
        var elements: [Int] = []
        var sequence: UInt64 = 0
    }

    private let ledger: CollectionsLedger
    /// Whether it skips some changes: a planted fault.
    private let skips: Bool
    private let state = Mutex(State())
    private let end = Signal()

    init(_ ledger: CollectionsLedger, skips: Bool) {
        self.ledger = ledger
        self.skips = skips
    }

    var elements: [Int] { state.withLock { $0.elements } }

    func waitForEnd() { end.wait() }

    func begin(_ copy: [Int], at sequence: UInt64) {
        state.withLock { ($0.elements, $0.sequence) = (copy, sequence) }
    }

    func keep() {
        let (elements, sequence) = state.withLock { ($0.elements, $0.sequence) }
        ledger.keep(elements, at: sequence)
    }

    /// Applies a change, and returns whether it was the last of the round.
    @discardableResult
    func note(_ change: CollectionChange<Int>) -> Bool {
        var isReset = false
        if case .reset = change.event { isReset = true }
        return note(change.sequence, isReset: isReset) { change.apply(to: &$0) }
    }

    /// Applies a change, and returns whether it was the last of the round.
    @discardableResult
    func note(_ change: Change) -> Bool {
        // The life before noted this sample, and was killed before it could acknowledge the change.
        if change.sequence <= state.withLock({ $0.sequence }) { return elements.last == 0 }
        return note(change.sequence, isReset: false) { copy in
            let edit = change.edit?.map { value in if case .int(let number) = value { number } else { -1 } }
            return edit?.apply(to: &copy) ?? false
        }
    }

    private func note(_ sequence: UInt64, isReset: Bool, _ apply: (inout [Int]) -> Bool) -> Bool {
        let isEnd = state.withLock { state in
            let before = skips && !isReset && sequence % 48 == 0 ? state.elements : nil
            if !apply(&state.elements) || sequence <= state.sequence && !isReset { _ = ledger.misfits.add(1) }
            // A skipped last change would be waited for in vain.
            if let before, state.elements.last != 0 { state.elements = before }
            state.sequence = sequence
            // After each change the copy equals the ordered set of that moment; noting some samples is enough.
            if isReset || sequence % 4 == 0 { ledger.sample(sequence, state.elements) }
            return state.elements.last == 0
        }
        _ = ledger.changesTold.add(1)
        if isEnd { end.signal() }
        return isEnd
    }
}
