import SpaceSystem

/// How many wait for what: so that a writer passes by, unread, the slots of a thousand who wait for something else.
///
/// Guarantees: as long as a slot is active or granted, what it waits for is counted. A count may be too high, which costs
/// writers a look at the slots; too low, they would pass over somebody who waits.
///
/// So a waiter is counted before its slot becomes active, and no longer after it has ceased to be, by the one process that
/// then has the slot. That needs no lock: a waiter raises its count, and publishes; a writer commits, and reads the count;
/// between the two steps both have a fence. Who is killed between counting and publishing, or between giving up the
/// slot and the count, leaves a count one too high for as long as the namespace is used, and none too low: whoever frees a slot
/// that was being filled takes nothing off.
///
/// Interests of one form, number of fields and bound positions are one *kind*. Of kinds there are few, so a writer hashes
/// its tuple once for each that somebody waits for, and looks the hash up among counts by hash, which all kinds share:
/// what meets there by chance costs a look at the slots.
///
/// 64 kinds are listed at once. When all places are taken, a kind that no process waits for makes room: its place is locked
/// while its count is 0, gets the new selector, and is unlocked with the count 1. The count's word has a version, so that a
/// waiter that found the old selector there can't raise the count of the new one. A process killed between the two steps
/// leaves one place unused. Waiters that found no place are counted in one number, and looked for in the slots while
/// it is not 0. The slot notes where its waiter was counted.
///
/// Unchecked Sendable: it holds addresses of words that are accessed by atomic operations alone.
package struct WaitCounts: @unchecked Sendable {
    private static let kindCapacity = 64
    private static let kindSize = 16
    static let kindsByteCount = kindCapacity * kindSize

    /// With a thousand waiters one tuple in nine meets somebody's count by chance.
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

    /// Where waiters that found no place are counted.
    static let unlistedPlace: UInt32 = 0

    /// Counts one more who waits; before its slot becomes active.
    ///
    /// - Returns: Where it is counted, for `subtract`.
    package func add(_ interest: Interest) -> UInt32 {
        guard let index = list(interest.kind) else {
            unlisted.add(1)
            return Self.unlistedPlace
        }
        if interest.isHashed { bucket(interest.hash).add(1) }
        return UInt32(index + 1)
    }

    /// Takes off one who was counted; after its slot has ceased to be active.
    package func subtract(_ interest: Interest, at place: UInt32) {
        guard place != Self.unlistedPlace else {
            unlisted.subtract(1)
            return
        }
        // Another number would be damage.
        guard place <= Self.kindCapacity else { return }
        lower(Int(place) - 1)
        if interest.isHashed { bucket(interest.hash).subtract(1) }
    }

    /// Whether somebody may wait for a tuple.
    ///
    /// Asked after the commit and a fence.
    func mayAwait(_ appearance: inout Appearance) -> Bool {
        if unlisted.load() != 0 { return true }
        for index in 0..<Self.kindCapacity {
            // The count first: while it is not 0, the selector stays.
            let isCounted = count(index).load() & Self.countMask != 0
            let kind = selector(index).load()
            guard kind != 0 else { return false }
            guard isCounted else { continue }
            if appearance.mayMatch(kind: kind, where: { bucket($0).load() != 0 }) { return true }
        }
        return false
    }

    /// Whether somebody may wait for exactly this, such as a cell.
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

    // A count's word: how many wait (32 bits), a version (31), whether the place is locked.
    private static let countMask: UInt64 = 0xFFFF_FFFF
    private static let oneVersion: UInt64 = 1 << 32
    private static let locked: UInt64 = 1 << 63

    private func selector(_ index: Int) -> SharedWord64 { SharedWord64(at: kinds + index * Self.kindSize) }
    private func count(_ index: Int) -> SharedWord64 { SharedWord64(at: kinds + index * Self.kindSize + 8) }

    /// Counts one more of a kind at the place of the kind, or at a new one.
    ///
    /// - Returns: `nil` when waiters of 64 other kinds have all places.
    private func list(_ kind: UInt64) -> Int? {
        for index in 0..<Self.kindCapacity {
            if selector(index).load() == 0 {
                // Kinds are listed without gaps, so that two who list the same one meet here.
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
            // 0 would be damage: a waiter that is counted keeps its place.
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
        // Tickets are numbered from 1; the multiplication scatters them too (by 2⁶⁴ ÷ the golden ratio).
        SharedWord32(at: buckets + Int((hash &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.bucketBits)) * 4)
    }
}
