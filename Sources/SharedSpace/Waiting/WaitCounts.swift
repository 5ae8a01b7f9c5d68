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
/// what meets there by chance costs a look at the slots. A kind, once listed, stays; those who wait for one that found no
/// room are counted in one number, and looked for in the slots while it is not 0.
///
/// Unchecked Sendable: it holds addresses of words that are accessed by atomic operations alone.
struct WaitCounts: @unchecked Sendable {
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

    /// Counts one more who waits; before its slot becomes active.
    func add(_ interest: Interest) {
        guard let count = count(ofKind: interest.kind, listing: true) else {
            unlisted.add(1)
            return
        }
        if interest.isHashed { bucket(interest.hash).add(1) }
        count.add(1)
    }

    /// Takes off one who was counted; after its slot has ceased to be active.
    func subtract(_ interest: Interest) {
        // A kind that was not listed found no room, and so finds none now: kinds stay.
        guard let count = count(ofKind: interest.kind, listing: false) else {
            unlisted.subtract(1)
            return
        }
        count.subtract(1)
        if interest.isHashed { bucket(interest.hash).subtract(1) }
    }

    /// Whether somebody may wait for a tuple.
    ///
    /// Asked after the commit and a fence.
    func mayAwait(_ appearance: inout Appearance) -> Bool {
        if unlisted.load() != 0 { return true }
        for index in 0..<Self.kindCapacity {
            let kind = selector(index).load()
            guard kind != 0 else { return false }
            guard count(index).load() != 0 else { continue }
            if appearance.mayMatch(kind: kind, where: { bucket($0).load() != 0 }) { return true }
        }
        return false
    }

    /// Whether somebody may wait for exactly this, such as a cell.
    func mayAwait(_ interest: Interest) -> Bool {
        if unlisted.load() != 0 { return true }
        guard let count = count(ofKind: interest.kind, listing: false), count.load() != 0 else { return false }
        return !interest.isHashed || bucket(interest.hash).load() != 0
    }

    private func selector(_ index: Int) -> SharedWord64 { SharedWord64(at: kinds + index * Self.kindSize) }
    private func count(_ index: Int) -> SharedWord32 { SharedWord32(at: kinds + index * Self.kindSize + 8) }

    private func count(ofKind kind: UInt64, listing: Bool) -> SharedWord32? {
        for index in 0..<Self.kindCapacity {
            var found = selector(index).load()
            if found == 0 {
                guard listing else { return nil }
                // Kinds are listed without gaps, so that two who list the same one meet here.
                found = selector(index).compareExchange(expected: 0, desired: kind).original
            }
            // 0 still: it was free, and is this kind's now.
            if found == kind || found == 0 { return count(index) }
        }
        return nil
    }

    private func bucket(_ hash: UInt64) -> SharedWord32 {
        // Tickets are numbered from 1; the multiplication scatters them too (by 2⁶⁴ ÷ the golden ratio).
        SharedWord32(at: buckets + Int((hash &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.bucketBits)) * 4)
    }
}
