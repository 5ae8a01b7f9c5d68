import SpaceSystem

/// Counts of the waiters by what they wait for, with which a writer skips a thousand slots that wait for something
/// else.
///
/// Guarantees: as long as a slot is active or granted, its interest is counted. A count that is too high costs writers
/// a look at the slots. A count that is too low would make them skip a waiter.
///
/// So a waiter is counted before its slot becomes active. It is taken off after the slot has ceased to be active, by
/// the one process that then has the slot. This needs no lock: a waiter raises its count, and publishes; a writer
/// commits, and reads the count; each has a fence between its two steps. A process that is killed between counting and
/// publishing, or between giving up the slot and the count, leaves a count one too high for as long as the namespace is
/// used. It never leaves one too low, because freeing a slot in FILLING does not decrement its count.
///
/// Interests with the same form, number of fields and bound positions are one *kind*. There are few kinds. So a writer
/// hashes its tuple once for each kind that has waiters, and looks the hash up among counts by hash, which all kinds
/// share. If two hashes meet there by chance, it costs a look at the slots.
///
/// 64 kinds are listed at once. If all places are taken, a new kind replaces one that no process waits for: the place
/// is locked while its count is 0, gets the new selector, and is unlocked with the count 1. The count's word has a
/// version, so a waiter that found the old selector there can't raise the new kind's count. A process killed between
/// the two steps leaves one place unused. Waiters that found no place are counted in one number; while it is not 0,
/// writers look at the slots. The slot notes where its waiter was counted.
///
/// Unchecked Sendable: it holds addresses of words that are accessed only by atomic operations.
package struct WaitCounts: @unchecked Sendable {
    private static let kindCapacity = 64
    private static let kindSize = 16
    static let kindsByteCount = kindCapacity * kindSize

    /// With a thousand waiters, one tuple in nine meets a waiter's count by chance.
    private static let bucketBits: UInt64 = 13
    static let bucketsByteCount = (1 << Int(bucketBits)) * 4

    private let unlisted: SharedWord32
    private let kinds: UnsafeMutableRawPointer
    private let buckets: UnsafeMutableRawPointer

    init(unlisted: UnsafeMutableRawPointer, kinds: UnsafeMutableRawPointer, buckets: UnsafeMutableRawPointer) {
        self.unlisted = SharedWord32(at: unlisted)
        self.kinds = kinds
        self.buckets = buckets
    }

    /// The place at which waiters that found no other place are counted.
    static let unlistedPlace: UInt32 = 0

    /// Counts one more waiter, before its slot becomes active.
    ///
    /// - Returns: The place at which it is counted, for `subtract`.
    package func add(_ interest: Interest) -> UInt32 {
        guard let index = list(interest.kind) else {
            unlisted.add(1)
            return Self.unlistedPlace
        }
        if interest.isHashed { bucket(interest.hash).add(1) }
        return UInt32(index + 1)
    }

    /// Takes off a waiter that was counted, after its slot has ceased to be active.
    package func subtract(_ interest: Interest, at place: UInt32) {
        guard place != Self.unlistedPlace else {
            unlisted.subtract(1)
            return
        }
        // A greater number would be damage.
        guard place <= Self.kindCapacity else { return }
        lower(Int(place) - 1)
        if interest.isHashed { bucket(interest.hash).subtract(1) }
    }

    /// Whether a process may wait for a tuple; asked after the commit and a fence.
    func mayAwait(_ appearance: inout Appearance) -> Bool {
        if unlisted.load() != 0 { return true }
        for index in 0..<Self.kindCapacity {
            // The count is read first: while it is not 0, the selector stays the same.
            let isCounted = count(index).load() & Self.countMask != 0
            let kind = selector(index).load()
            guard kind != 0 else { return false }
            guard isCounted else { continue }
            if appearance.mayMatch(kind: kind, where: { bucket($0).load() != 0 }) { return true }
        }
        return false
    }

    /// Whether a process may wait for exactly this interest, such as a cell.
    func mayAwait(_ interest: Interest) -> Bool {
        if unlisted.load() != 0 { return true }
        for index in 0..<Self.kindCapacity {
            let isCounted = count(index).load() & Self.countMask != 0
            let kind = selector(index).load()
            guard kind != 0 else { return false }
            if isCounted, kind == interest.kind { return !interest.isHashed || bucket(interest.hash).load() != 0 }
        }
        return false
    }

    // MARK: Places

    // The word of a count: the number of waiters (32 bits), a version (31 bits), and whether the place is locked (1
    // bit).
    private static let countMask: UInt64 = 0xFFFF_FFFF
    private static let oneVersion: UInt64 = 1 << 32
    private static let locked: UInt64 = 1 << 63

    private func selector(_ index: Int) -> SharedWord64 { SharedWord64(at: kinds + index * Self.kindSize) }
    private func count(_ index: Int) -> SharedWord64 { SharedWord64(at: kinds + index * Self.kindSize + 8) }

    /// Counts one more waiter of a kind, at the kind's place or at a new one.
    ///
    /// - Returns: `nil` if waiters of 64 other kinds have all places.
    private func list(_ kind: UInt64) -> Int? {
        for index in 0..<Self.kindCapacity {
            if selector(index).load() == 0 {
                // Kinds are listed without gaps, so two processes that list the same kind meet here.
                _ = selector(index).compareExchange(expected: 0, desired: kind)
            }
            if raise(index, ifIs: kind) { return index }
        }
        for index in 0..<Self.kindCapacity where replace(index, by: kind) { return index }
        return nil
    }

    private func raise(_ index: Int, ifIs kind: UInt64) -> Bool {
        while true {
            let word = count(index).load()
            guard word & Self.locked == 0, selector(index).load() == kind else { return false }
            if count(index).compareExchange(expected: word, desired: word + 1).exchanged { return true }
        }
    }

    private func lower(_ index: Int) {
        while true {
            let word = count(index).load()
            // 0 would be damage, because a waiter that is counted keeps its place.
            guard word & Self.countMask != 0 else { return }
            if count(index).compareExchange(expected: word, desired: word - 1).exchanged { return }
        }
    }

    private func replace(_ index: Int, by kind: UInt64) -> Bool {
        let word = count(index).load()
        guard word & (Self.locked | Self.countMask) == 0 else { return false }
        let next = (word &+ Self.oneVersion) & ~Self.locked
        guard count(index).compareExchange(expected: word, desired: next | Self.locked).exchanged else { return false }
        selector(index).store(kind)
        count(index).store(next | 1)
        return true
    }

    private func bucket(_ hash: UInt64) -> SharedWord32 {
        // Tickets are numbered from 1; the multiplication (by 2⁶⁴ ÷ the golden ratio) scatters them too.
        SharedWord32(at: buckets + Int((hash &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.bucketBits)) * 4)
    }
}
