import SpaceSystem

/// The search for the oldest active taker that may match a tuple, under the gate: a walk by tickets, or a scan of the
/// slots.
///
/// `TicketTable` says why it finds every taker that sleeps.
struct TakerSearch {
    /// A walk of as many tickets is always worth it.
    private static let shortWalk: UInt64 = 64

    private let slots: WaitSlots
    private let awaited: WaitCounts.Awaited
    /// Only takers with younger tickets are looked for; 0: all.
    private let ticket: UInt64
    /// The start of the lines, before the search.
    private let from: UInt64
    /// The ticket that is given out next.
    private var limit: UInt64
    /// The oldest active taker of the lines, whether it may match or not, or `limit`.
    private var firstActive: UInt64
    private(set) var oldest: (slot: WaitSlots.Slot, word: WaitSlots.Word, ticket: UInt64)?

    @inline(__always)
    init(_ slots: WaitSlots, _ awaited: WaitCounts.Awaited, youngerThan ticket: UInt64) {
        self.slots = slots
        self.awaited = awaited
        self.ticket = ticket
        from = slots.tickets.start(of: awaited.lines)
        limit = slots.lastTicket.loadSequential() &+ 1
        firstActive = limit
    }

    /// Whether entries from the start on may have been replaced, or there are damaged numbers.
    private var isLong: Bool {
        let limit = slots.lastTicket.loadSequential() &+ 1
        return limit &- from > TicketTable.capacity || limit > TicketTable.ticketLimit
    }

    // MARK: By tickets

    /// Searches by tickets; `false` if that is not possible, or would take longer than a scan.
    mutating func walk(_ appearance: inout Appearance) -> Bool {
        let end = slots.range.upperBound
        guard from != 0, !isLong, limit &- from <= UInt64(4 * end) + Self.shortWalk else { return false }
        var number = max(from, ticket &+ 1)
        while number < limit {
            if let (slot, word) = active(number, in: awaited.lines, end) {
                if firstActive == limit { firstActive = number }
                if appearance.mayMatch(slot.interest), slot.interest.isTaking {
                    oldest = (slot, word, number)
                    break
                }
            }
            number &+= 1
        }
        guard !isLong else {
            oldest = nil
            return false
        }
        if ticket == 0, firstActive > from { raiseStarts(end) }
        return true
    }

    /// The active slot of a taker of these lines with this ticket.
    ///
    /// The word is read first, then the ticket and the key. If word and ticket are still the same after the grant's
    /// exchange, so was the key.
    @inline(__always)
    private func active(_ number: UInt64, in lines: UInt64, _ end: Int) -> (WaitSlots.Slot, WaitSlots.Word)? {
        guard let index = slots.tickets.slot(number, in: lines), index < end else { return nil }
        let slot = slots.slot(index)
        let word = slot.current
        return word.state == .active && slot.ticket.load() == number ? (slot, word) : nil
    }

    /// Raises the starts to the oldest active taker, and lowers them again if an older one has become active in the
    /// meantime.
    private func raiseStarts(_ end: Int) {
        let raised = slots.tickets.raise(awaited.lines, from: from, to: firstActive)
        CrashPoint.reach(.startRaised)
        // The taker's side is: become active, fence, lower the start, look.
        SharedWord64.fence()
        guard raised != 0 else { return }
        for number in from..<firstActive where active(number, in: raised, end) != nil {
            return slots.tickets.lower(raised, to: number)
        }
        if isLong { slots.tickets.lower(raised, to: from) }
    }

    // MARK: By slots

    /// Reads all slots, and wakes every active reader that may match, if `readers` says so.
    ///
    /// If the starts are too low for a walk they are set before, and then lowered to the oldest active taker: a taker that
    /// becomes active after the scan has passed its slot sees the start.
    mutating func scan(_ appearance: inout Appearance, wakingReaders readers: WakeList?) {
        (oldest, limit) = (nil, slots.lastTicket.loadSequential() &+ 1)
        firstActive = limit
        let setsStarts = ticket == 0 && !awaited.hasUnlisted && (from == 0 || limit &- from > Self.shortWalk)
        if setsStarts {
            slots.tickets.set(awaited.lines, to: limit)
            CrashPoint.reach(.startRaised)
            SharedWord64.fence()
        }
        for index in slots.range {
            let slot = slots.slot(index)
            let key = slot.interest
            let isOfLines = setsStarts && key.isTaking && awaited.lines >> UInt64(key.line) & 1 != 0
            guard isOfLines || appearance.mayMatch(key) else { continue }
            let word = slot.current
            guard word.state == .active else { continue }
            let candidate = slot.ticket.load()
            if isOfLines { firstActive = min(firstActive, candidate) }
            let interest = slot.interest
            guard appearance.mayMatch(interest) else { continue }
            if !interest.isTaking {
                readers?.add(slot)
            } else if candidate > ticket, candidate < oldest?.ticket ?? .max {
                oldest = (slot, word, candidate)
            }
        }
        if setsStarts { slots.tickets.lower(awaited.lines, to: firstActive) }
    }
}
