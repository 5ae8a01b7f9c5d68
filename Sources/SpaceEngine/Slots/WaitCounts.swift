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
/// Interests with the same form, number of fields and bound positions, of takers or of readers, are one *kind*. There
/// are few kinds. So a writer hashes its tuple once for each kind that has waiters, and looks the hash up among counts by
/// hash, which all kinds share. Each waiter is counted at two places, so a hash meets others by chance only if it meets
/// one at each: with 1,000 waiters once in 76 times. It costs a look at the waiters of one line (`TicketTable`).
///
/// A count by hash has 8 bits. A count that has reached the highest number stays there, because the true count may be
/// higher.
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

    private static let bucketBits: UInt64 = 14
    static let bucketsByteCount = 1 << Int(bucketBits)
    static let fullBucket: UInt32 = 0xFF

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
        guard let index = list(interest.selector) else {
            unlisted.add(1)
            return Self.unlistedPlace
        }
        if interest.isHashed {
            let scatter = interest.scatter
            change(Self.firstBucket(scatter)) { $0 &+ 1 }
            change(Self.secondBucket(scatter)) { $0 &+ 1 }
        }
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
        if interest.isHashed {
            let scatter = interest.scatter
            // 0 would be damage.
            change(Self.firstBucket(scatter)) { $0 == 0 ? 0 : $0 &- 1 }
            change(Self.secondBucket(scatter)) { $0 == 0 ? 0 : $0 &- 1 }
        }
    }

    /// Which waiters may wait for a tuple.
    struct Awaited {
        /// The lines of the takers (`TicketTable`), one bit each.
        var lines: UInt64 = 0
        var hasReaders = false
        /// Whether there are waiters for which the counts do not show what they wait for.
        var hasUnlisted = false

        @inline(__always)
        var isEmpty: Bool { lines == 0 && !hasReaders && !hasUnlisted }
    }

    /// Which waiters may wait for a tuple; asked after the commit and a fence.
    @inline(__always)
    func awaited(_ appearance: inout Appearance) -> Awaited {
        var awaited = Awaited()
        awaited.hasUnlisted = unlisted.load() != 0
        for index in 0..<Self.kindCapacity {
            // The count is read first: while it is not 0, the selector stays the same.
            let isCounted = count(index).load() & Self.countMask != 0
            let selector = selector(index).load()
            guard selector != 0 else { break }
            guard isCounted else { continue }
            appearance.forEachHash(of: selector) { hash in
                let interest = Interest(selector: selector, hash: hash)
                guard !interest.isHashed || isCountedByHash(interest) else { return }
                if interest.isTaking { awaited.lines |= 1 << UInt64(interest.line) } else { awaited.hasReaders = true }
            }
        }
        return awaited
    }

    /// Whether a process may wait for exactly this interest, such as a cell.
    func mayAwait(_ interest: Interest) -> Bool {
        if unlisted.load() != 0 { return true }
        for index in 0..<Self.kindCapacity {
            let isCounted = count(index).load() & Self.countMask != 0
            let selector = selector(index).load()
            guard selector != 0 else { return false }
            if isCounted, selector == interest.selector { return !interest.isHashed || isCountedByHash(interest) }
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

    // MARK: Counts by hash

    @inline(__always)
    private static func firstBucket(_ scatter: UInt64) -> Int { Int(scatter >> (64 - bucketBits)) }
    @inline(__always)
    private static func secondBucket(_ scatter: UInt64) -> Int {
        Int(scatter >> (64 - 2 * bucketBits) & (1 << bucketBits - 1))
    }

    @inline(__always)
    private func isCountedByHash(_ interest: Interest) -> Bool {
        let scatter = interest.scatter
        return bucket(Self.firstBucket(scatter)) != 0 && bucket(Self.secondBucket(scatter)) != 0
    }

    /// The word that has a count, with three others beside it.
    @inline(__always)
    private func word(_ index: Int) -> SharedWord32 { SharedWord32(at: buckets + (index & ~3)) }
    @inline(__always)
    private static func shift(_ index: Int) -> UInt32 { UInt32(index & 3) * 8 }

    @inline(__always)
    private func bucket(_ index: Int) -> UInt32 { word(index).load() >> Self.shift(index) & Self.fullBucket }

    private func change(_ index: Int, _ next: (UInt32) -> UInt32) {
        let (word, shift) = (word(index), Self.shift(index))
        var current = word.load()
        while true {
            let count = current >> shift & Self.fullBucket
            let changed = count == Self.fullBucket ? count : next(count)
            guard changed != count else { return }
            let desired = current & ~(Self.fullBucket << shift) | changed << shift
            let (isChanged, found) = word.compareExchange(expected: current, desired: desired)
            if isChanged { return }
            current = found
        }
    }
}
