import SpaceSystem

extension WaitSlots {
    var overflowFutex: Futex { Futex(at: overflow.address) }

    /// Whether a commit may have a waiter to wake; asked after the commit and a fence.
    package var isAnybodyWaiting: Bool { inUse.load() != 0 || hasOverflowWaiters }

    /// Whether a slot has a waiter.
    ///
    /// Unlike `isAnybodyWaiting` it looks at the slots: a process that was killed while it took or gave back a slot
    /// leaves the count too high.
    package var hasWaiter: Bool {
        inUse.load() != 0 && range.contains { slot($0).current.state != .free } || hasOverflowWaiters
    }

    /// Grants a visible tuple to the oldest active taker that may match, and wakes every active reader that may match.
    ///
    /// Only takers whose tickets are younger than `ticket` count. The caller holds the gate, and has committed.
    @inline(__always)
    package func grant(
        _ id: UInt64,
        _ appearance: inout Appearance,
        youngerThan ticket: UInt64 = 0,
        wakingReaders: Bool = true,
        into wakes: WakeList
    ) {
        let awaited = counts.awaited(&appearance)
        if !awaited.isEmpty { grant(id, &appearance, awaited, youngerThan: ticket, wakingReaders ? wakes : nil, wakes) }
        wakes.addOverflow(of: self)
    }

    @inline(never)
    private func grant(
        _ id: UInt64,
        _ appearance: inout Appearance,
        _ first: WaitCounts.Awaited,
        youngerThan ticket: UInt64,
        _ readers: WakeList?,
        _ wakes: WakeList
    ) {
        var (awaited, readers) = (first, readers)
        while !awaited.isEmpty {
            var search = TakerSearch(self, awaited, youngerThan: ticket)
            if awaited.hasUnlisted || awaited.hasReaders && readers != nil || !search.walk(&appearance) {
                search.scan(&appearance, wakingReaders: readers)
                readers = nil
            }
            guard let oldest = search.oldest else { break }
            CrashPoint.reach(.granting)
            let granted = oldest.word.next(.granted, payload: id)
            if oldest.slot.grantedAt.loadRelaxed() != 0 {
                oldest.slot.grantedAt.store(UInt64(bitPattern: MonotonicInstant.now.nanoseconds))
            }
            oldest.slot.lastGrant.store(id)
            if oldest.slot.change(from: oldest.word, to: granted) {
                if oldest.slot.ticket.load() == oldest.ticket {
                    wakes.add(oldest.slot)
                    break
                }
                // The slot belongs to a later tenant, whose word looks the same. If that tenant has not taken up the
                // grant, it never learns of it.
                _ = oldest.slot.change(from: granted, to: granted.next(.active))
            }
            awaited = counts.awaited(&appearance)
        }
    }

    /// Whether a tuple is granted to a waiter that has not begun to look for it.
    package func isPromised(_ id: UInt64) -> Bool { promise(of: id) != nil }

    /// To whom a tuple is granted.
    package struct Promise: Sendable {
        fileprivate let index: Int
        package let ticket: UInt64
    }

    /// The waiter that a tuple is granted to, and that has not begun to look for it; `nil` if there is none.
    package func promise(of id: UInt64) -> Promise? {
        for index in range {
            let promise = Promise(index: index, ticket: slot(index).ticket.load())
            if stands(promise, of: id) { return promise }
        }
        return nil
    }

    /// Whether a tuple is still granted to that waiter.
    package func stands(_ promise: Promise, of id: UInt64) -> Bool {
        let slot = slot(promise.index)
        let word = slot.current
        return word.state == .granted && word.payload == id && slot.ticket.load() == promise.ticket
    }

    /// Whether a waiter was granted a tuple, even if the waiter has not woken yet.
    ///
    /// It looks at all slots, including those of waiters that have left since.
    package func hasGranted(_ id: UInt64) -> Bool { range.contains { slot($0).lastGrant.load() == id } }

    /// Wakes every active reader that waits for the cell.
    package func announce(cell interest: Interest, into wakes: WakeList) {
        if counts.mayAwait(interest) {
            for index in range {
                let slot = slot(index)
                if slot.interest == interest, slot.current.state == .active { wakes.add(slot) }
            }
        }
        wakes.addOverflow(of: self)
    }

    /// Wakes every active waiter at a hold or an object.
    package func announceHolds(into wakes: WakeList) {
        for index in range {
            let slot = slot(index)
            if slot.interest.form == .hold, slot.current.state == .active { wakes.add(slot) }
        }
        wakes.addOverflow(of: self)
    }

    /// Wakes all waiters: after a recovery, when the namespace is deleted, and, by a nudge, at a tick.
    package func wakeEverybody(into wakes: WakeList, by ring: WakeWord.Ring = .news) {
        SharedWord64.fence()
        for index in range where slot(index).current.state != .free { wakes.add(slot(index), by: ring) }
        wakes.addOverflow(of: self, by: ring)
    }
}
