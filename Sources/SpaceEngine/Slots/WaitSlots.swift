package import SpaceSystem

/// The slots in the control file in which waiting takers and readers say what they wait for.
///
/// Guarantees: a tuple that becomes visible wakes the oldest taker that may match, and every reader that may match. A
/// taker that is woken but does not take the tuple, or that leaves, hands the grant on. Merely waking "the oldest that
/// matches" loses wake-ups even if no process is killed, as an exhaustive model shows. Granting, with a re-arm before
/// the look, loses none.
///
/// Each slot has one atomic word, which is changed only by compare-and-swap:
///
///     FREE → FILLING(session) → ACTIVE → GRANTED(tuple id) → ACTIVE …  → FREE
///
/// - A waiter publishes its slot (ACTIVE), then has a sequentially consistent fence, then looks. A writer commits, then
///   has the fence, then scans. So either the waiter sees the tuple or the writer sees the slot.
/// - A granted waiter re-arms (GRANTED → ACTIVE) *before* it looks, so a tuple written during its look can be granted
///   to it again.
/// - If a grant ends and its tuple was not removed, the tuple is offered to younger tickets.
/// - FILLING carries the session's number, so a slot can be swept if its owner was killed while filling it.
///
/// What a slot waits for is stored apart from the words, packed: a writer's scan reads 24 bytes per slot. Counts of
/// what the waiters wait for tell a writer whether it has to look at any (`WaitCounts`). The oldest taker is found by its
/// ticket (`TicketTable`); only readers need a scan.
///
/// The slots are in segments of 1,024. The blocks of the first segment are reserved with the file. Those of each
/// further one are reserved by the first waiter that finds the table full (`NamespaceCore.growSlots`), before
/// `segments` counts that segment. All segments are mapped from the start, so a writer needs to do nothing to see a new
/// one. A segment that was not added yet is all zeros, which means free slots.
///
/// The 14 bits of a word's generation repeat after 4,096 waits. So a process that was stopped between its look at a
/// word and its compare-and-swap may change the slot of a later tenant. The ticket shows that, because each ticket is
/// given out once: a process that changes the word of another's slot compares the ticket afterwards, and undoes the
/// change if it differs.
///
/// Unchecked Sendable: everything is accessed by atomic words; only the process that fills a slot writes its text and
/// key.
package struct WaitSlots: @unchecked Sendable {
    static let segmentCapacity = 1024
    /// How many segments a table has at most.
    package static let mostSegments = 16
    static let mostSlots = segmentCapacity * mostSegments
    private static let keySize = 24
    private static let blockSize = 128
    private static let textCapacity = 68
    static let segmentByteCount = segmentCapacity * (keySize + blockSize)

    /// How many slots are not free.
    ///
    /// Usually it is 0, and then a writer skips everything.
    package let inUse: SharedWord32
    /// One more than the highest slot ever used.
    private let end: SharedWord32
    /// The ticket that was given out last.
    let lastTicket: SharedWord64
    /// Waiters that found the table full sleep on this word, and every commit wakes them all.
    package let overflow: SharedWord32
    /// Until when a waiter may sleep on `overflow`, in monotonic ns, or 0 if none does.
    ///
    /// It is a time, not a count, so a waiter that is killed leaves nothing to undo.
    private let overflowUntil: SharedWord64
    /// When the slots of dead sessions were last swept, in monotonic ns; one process does it per tick.
    package let lastSweep: SharedWord64
    /// How many segments there are beyond the first; the number only rises.
    private let moreSegments: SharedWord32
    package let counts: WaitCounts
    let tickets: TicketTable
    private let base: UnsafeMutableRawPointer

    /// Makes the table; `segments` is the address of the first of `mostSegments` segments.
    init(
        summary: UnsafeMutableRawPointer,
        kinds: UnsafeMutableRawPointer,
        buckets: UnsafeMutableRawPointer,
        tickets: TicketTable,
        segments: UnsafeMutableRawPointer
    ) {
        inUse = SharedWord32(at: summary)
        end = SharedWord32(at: summary + 4)
        lastTicket = SharedWord64(at: summary + 8)
        overflow = SharedWord32(at: summary + 64)
        overflowUntil = SharedWord64(at: summary + 72)
        lastSweep = SharedWord64(at: summary + 80)
        moreSegments = SharedWord32(at: summary + 20)
        counts = WaitCounts(unlisted: summary + 16, kinds: kinds, buckets: buckets)
        self.tickets = tickets
        base = segments
    }

    /// How many segments there are, bounded in case the file is damaged.
    package var segments: Int { 1 + min(Int(moreSegments.load()), Self.mostSegments - 1) }

    /// Announces that the blocks of one segment more than `known` are reserved; does nothing if that is announced
    /// already.
    package func addSegment(beyond known: Int) {
        _ = moreSegments.compareExchange(expected: UInt32(known - 1), desired: UInt32(known))
    }

    // MARK: One slot

    /// The contents of a slot's word.
    package struct Word: Equatable, Sendable {
        package enum State: UInt64, Sendable { case free, filling, active, granted }
        package var raw: UInt64

        init(raw: UInt64) { self.raw = raw }

        /// Makes a word; `payload` has 48 bits: the tuple's id in a grant, the session's number while filling.
        init(_ state: State, generation: UInt64, payload: UInt64 = 0) {
            raw = state.rawValue | (generation & 0x3FFF) << 2 | payload << 16
        }

        package var state: State { State(rawValue: raw & 3) ?? .free }
        package var generation: UInt64 { raw >> 2 & 0x3FFF }
        package var payload: UInt64 { raw >> 16 }

        package func next(_ state: State, payload: UInt64 = 0) -> Word {
            Word(state, generation: generation &+ 1, payload: payload)
        }
    }

    /// One waiter's place in the table.
    ///
    /// Unchecked Sendable: it holds the addresses of words that only atomic operations access.
    package struct Slot: @unchecked Sendable {
        package let index: Int
        fileprivate let block: UnsafeMutableRawPointer
        fileprivate let key: UnsafeMutableRawPointer

        package var word: SharedWord64 { SharedWord64(at: block) }
        /// The word on which the waiter sleeps, raised with every wake-up.
        package var wakeWord: SharedWord32 { SharedWord32(at: block + 8) }
        var wakeFutex: Futex { Futex(at: wakeWord.address) }
        /// Whether a thread sleeps on `wakeWord`; if it only spins, waking it costs no system call.
        package var isSleeping: SharedWord32 { SharedWord32(at: block + 12) }
        package var session: SharedWord64 { SharedWord64(at: block + 16) }
        /// The number of the process's task wake-up word plus 1 if a task waits, or 0 if a thread does.
        package var taskWord: SharedWord32 { SharedWord32(at: block + 24) }
        /// The place at which the waiter is counted (`WaitCounts`).
        fileprivate var countedAt: SharedWord32 { SharedWord32(at: block + 28) }
        package var sinceMilliseconds: SharedWord64 { SharedWord64(at: block + 32) }
        /// When a tuple was last granted to the waiter, in monotonic ns; 1 if none was, 0 if the waiter does not measure
        /// it.
        package var grantedAt: SharedWord64 { SharedWord64(at: block + 40) }
        /// The tuple that was last granted to the slot, or is about to be, for `hasGranted`.
        package var lastGrant: SharedWord64 { SharedWord64(at: block + 120) }
        package var ticket: SharedWord64 { SharedWord64(at: key + 16) }

        package var interest: Interest {
            Interest(selector: SharedWord64(at: key).loadRelaxed(), hash: SharedWord64(at: key + 8).loadRelaxed())
        }

        /// The template as text, cut to the space there is, for commands that show the waiters.
        package var text: String {
            get {
                let count = min(Int(SharedWord32(at: block + 48).load()), textCapacity)
                return String(decoding: UnsafeRawBufferPointer(start: block + 52, count: count), as: UTF8.self)
            }
            nonmutating set {
                var bytes = Array(newValue.utf8)
                if bytes.count > textCapacity { bytes = Array(bytes.prefix(textCapacity - 3)) + Array("…".utf8) }
                bytes.withUnsafeBytes {
                    (block + 52).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(block), byteCount: $0.count)
                }
                SharedWord32(at: block + 48).store(UInt32(bytes.count))
            }
        }

        package var current: Word { Word(raw: word.load()) }

        package func change(from old: Word, to new: Word) -> Bool {
            word.compareExchange(expected: old.raw, desired: new.raw).exchanged
        }
    }

    package func slot(_ index: Int) -> Slot {
        let segment = base + index / Self.segmentCapacity * Self.segmentByteCount
        let place = index % Self.segmentCapacity
        return Slot(
            index: index,
            block: segment + Self.segmentCapacity * Self.keySize + place * Self.blockSize,
            key: segment + place * Self.keySize
        )
    }

    /// The indexes of the slots that have ever been used.
    package var range: Range<Int> { 0..<min(Int(end.load()), segments * Self.segmentCapacity) }

    // MARK: Publishing and leaving

    /// A slot for the duration of one wait.
    ///
    /// The ticket, which is given out once, distinguishes this tenancy from the slot's earlier and later ones.
    package struct Tenancy: Sendable {
        package let slot: Slot
        package let ticket: UInt64
        /// The line of a taker; `nil` for other waiters, which are found without their tickets.
        fileprivate let line: Int?

        package var isCurrent: Bool { slot.ticket.load() == ticket }
    }

    /// Publishes that `session` waits for `interest`; returns `nil` if the table is full.
    ///
    /// `isMeasured`: whether the waiter wants to know when it is granted a tuple.
    package func publish(
        _ interest: Interest,
        session: UInt64,
        taskWord: UInt32,
        sinceMilliseconds: UInt64,
        isMeasured: Bool = false
    ) -> Tenancy? {
        // The count rises before a slot is taken, and falls after the slot is given back. So a kill between the two
        // leaves it too high, which costs writers a scan. If it were too low, they would skip a waiter.
        inUse.add(1)
        for index in 0..<segments * Self.segmentCapacity {
            let slot = slot(index)
            let word = slot.current
            guard word.state == .free else { continue }
            let filling = word.next(.filling, payload: session)
            guard slot.change(from: word, to: filling) else { continue }
            CrashPoint.reach(.slotFilling)
            raiseEnd(to: UInt32(index + 1))
            slot.session.store(session)
            slot.taskWord.store(taskWord)
            slot.isSleeping.store(0)
            slot.sinceMilliseconds.store(sinceMilliseconds)
            slot.grantedAt.store(isMeasured ? 1 : 0)
            slot.text = ""
            SharedWord64(at: slot.key + 8).store(interest.hash)
            // Tickets start at 1, so "younger than 0" means every ticket.
            let ticket = lastTicket.add(1) &+ 1
            slot.ticket.store(ticket)
            SharedWord64(at: slot.key).store(interest.selector)
            let place = counts.add(interest)
            slot.countedAt.store(place)
            if interest.isTaking { tickets.enter(ticket, slot: index, line: interest.line) }
            CrashPoint.reach(.slotCounted)
            guard slot.change(from: filling, to: filling.next(.active)) else {
                // The slot was swept in the meantime, and removed from the count: another process took this session for
                // dead.
                counts.subtract(interest, at: place)
                inUse.add(1)
                continue
            }
            SharedWord64.fence()
            CrashPoint.reach(.slotPublished)
            return Tenancy(slot: slot, ticket: ticket, line: interest.isTaking ? interest.line : nil)
        }
        inUse.subtract(1)
        return nil
    }

    /// Lets writers find a taker that the start of its line has passed; called when its slot is active, before its look.
    package func lowerStart(for tenancy: Tenancy) {
        if let line = tenancy.line { tickets.lower(line, to: tenancy.ticket) }
    }

    /// Takes a wait's slot out of the table; does nothing if the slot has another tenant by now.
    ///
    /// - Returns: The tuple that was granted to the slot and not looked at yet; the caller has to offer it to others.
    package func withdraw(_ tenancy: Tenancy, session: UInt64) -> UInt64? {
        while true {
            let word = tenancy.slot.current
            guard word.state == .active || word.state == .granted, tenancy.isCurrent else { return nil }
            if free(tenancy.slot, in: word, ticket: tenancy.ticket, session: session) {
                return word.state == .granted ? word.payload : nil
            }
        }
    }

    /// Frees a slot if its word and ticket are still those that the caller has seen.
    ///
    /// The slot passes through FILLING, so its interest is wiped while no waiter has the slot, never under a new
    /// tenant.
    package func free(_ slot: Slot, in word: Word, ticket: UInt64, session: UInt64) -> Bool {
        let emptying = word.next(.filling, payload: session)
        guard slot.change(from: word, to: emptying) else { return false }
        // A slot that is being filled has no ticket yet; the session in its word distinguishes it from others.
        guard word.state == .filling || slot.ticket.load() == ticket else {
            giveBack(slot, emptying)
            return false
        }
        // If the tenant was killed in FILLING, it may not have counted the slot yet, or no longer.
        if word.state != .filling { counts.subtract(slot.interest, at: slot.countedAt.load()) }
        SharedWord64(at: slot.key).store(0)
        // If the slot was swept in the meantime, the process that swept it has lowered the count.
        if slot.change(from: emptying, to: emptying.next(.free)) { inUse.subtract(1) }
        return true
    }

    /// Returns the slot to the later tenant from which it was taken by mistake, and lets that tenant look again.
    private func giveBack(_ slot: Slot, _ emptying: Word) {
        _ = slot.change(from: emptying, to: emptying.next(.active))
        _ = slot.wakeWord.add(1)
        slot.wakeFutex.wake()
    }

    // MARK: When the table is full

    var hasOverflowWaiters: Bool { overflowUntil.loadSequential() != 0 }

    /// Announces that a waiter sleeps on `overflow` for the next tick.
    package func announceOverflowWaiter() {
        let until = MonotonicInstant.now.advanced(by: Limits.tick + Limits.tick)
        overflowUntil.storeSequential(UInt64(bitPattern: until.nanoseconds))
    }

    package func forgetOverflow(before now: UInt64) {
        let until = overflowUntil.load()
        if until != 0, until < now { _ = overflowUntil.compareExchange(expected: until, desired: 0) }
    }

    private func raiseEnd(to value: UInt32) {
        var current = end.load()
        while current < value, !end.compareExchange(expected: current, desired: value).exchanged {
            current = end.load()
        }
    }
}
