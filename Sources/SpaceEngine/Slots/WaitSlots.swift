package import SpaceSystem

/// The slots in the control file in which waiting takers and readers say what they wait for.
///
/// Guarantees: a tuple that becomes visible wakes the oldest taker that may match, and every reader that may match; who is
/// woken for nothing, or leaves, hands the grant on. Waking merely "the oldest that matches" loses wake-ups with nobody
/// killed (an exhaustive model shows it); granting, with a re-arm before the look, loses none.
///
/// Each slot has one atomic word, changed by compare-and-swap only:
///
///     FREE → FILLING(session) → ACTIVE → GRANTED(tuple id) → ACTIVE …  → FREE
///
/// - A waiter publishes its slot (ACTIVE), then a sequentially consistent fence, then looks. A writer commits, then the
///   fence, then scans. So either the waiter sees the tuple or the writer sees the slot.
/// - A granted waiter re-arms (GRANTED → ACTIVE) *before* it looks, so that a tuple written during its look can be granted
///   to it again.
/// - A grant that ends without its tuple being removed is offered to younger tickets.
/// - FILLING carries the session's number, so that a slot whose owner was killed while filling it can be swept.
///
/// What a slot waits for lies apart from the words, packed: a writer's scan reads 24 bytes a slot. Counts of who waits for
/// what spare it most scans (`WaitCounts`).
///
/// The slots lie in segments of 1,024. The blocks of the first are reserved with the file, those of each further one by
/// the first waiter that finds the table full (`NamespaceCore.growSlots`), before `segments` says that it is there. All
/// of them are mapped from the beginning on, so a writer needs to do nothing to see a new one. What was not yet added is
/// all zeros, which is free slots.
///
/// The 14 bits of a word's generation come again after 4,096 waits, so a process that was stopped between its look at a
/// word and its compare-and-swap may change the slot of a later tenant. The ticket, which is given out once, shows that:
/// whoever changes the word of another's slot compares the ticket afterwards, and undoes the change if it differs.
///
/// Unchecked Sendable: everything is reached by atomic words; a slot's text and key are written only by who fills it.
package struct WaitSlots: @unchecked Sendable {
    static let segmentCapacity = 1024
    /// How many segments a table has at most.
    package static let mostSegments = 16
    static let mostSlots = segmentCapacity * mostSegments
    private static let keySize = 24
    private static let blockSize = 128
    private static let textCapacity = 72
    static let segmentByteCount = segmentCapacity * (keySize + blockSize)

    /// How many slots are not free.
    ///
    /// Zero lets a writer skip everything: the usual case.
    package let inUse: SharedWord32
    /// One more than the highest slot ever used.
    private let end: SharedWord32
    private let nextTicket: SharedWord64
    /// Those who found the table full sleep on this word, and every commit wakes them all.
    package let overflow: SharedWord32
    /// Until when somebody may sleep on `overflow`, monotonic ns; 0: nobody.
    ///
    /// A time, not a count: a waiter that is killed leaves nothing to undo.
    private let overflowUntil: SharedWord64
    /// When slots of dead sessions were last swept, monotonic ns: one process a tick does it.
    package let lastSweep: SharedWord64
    /// How many segments there are beyond the first; only ever raised.
    private let moreSegments: SharedWord32
    package let counts: WaitCounts
    private let base: UnsafeMutableRawPointer

    /// `segments`: The address of the first of `mostSegments`.
    package init(
        summary: UnsafeMutableRawPointer,
        kinds: UnsafeMutableRawPointer,
        buckets: UnsafeMutableRawPointer,
        segments: UnsafeMutableRawPointer
    ) {
        inUse = SharedWord32(at: summary)
        end = SharedWord32(at: summary + 4)
        nextTicket = SharedWord64(at: summary + 8)
        overflow = SharedWord32(at: summary + 64)
        overflowUntil = SharedWord64(at: summary + 72)
        lastSweep = SharedWord64(at: summary + 80)
        moreSegments = SharedWord32(at: summary + 20)
        counts = WaitCounts(unlisted: summary + 16, kinds: kinds, buckets: buckets)
        base = segments
    }

    /// How many segments there are, whatever a damaged file says.
    package var segments: Int { 1 + min(Int(moreSegments.load()), Self.mostSegments - 1) }

    /// Says that the blocks of one segment more than `known` are there; does nothing if that is known already.
    package func addSegment(beyond known: Int) {
        _ = moreSegments.compareExchange(expected: UInt32(known - 1), desired: UInt32(known))
    }

    // MARK: One slot

    /// What a slot's word says.
    package struct Word: Equatable, Sendable {
        package enum State: UInt64, Sendable { case free, filling, active, granted }
        package var raw: UInt64

        init(raw: UInt64) { self.raw = raw }

        /// `payload` is the tuple id of a grant, or the session's number while filling: 48 bits.
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

    package struct Slot: @unchecked Sendable {
        package let index: Int
        fileprivate let block: UnsafeMutableRawPointer
        fileprivate let key: UnsafeMutableRawPointer

        package var word: SharedWord64 { SharedWord64(at: block) }
        /// What the waiter sleeps on; raised with every wake-up.
        package var bell: SharedWord32 { SharedWord32(at: block + 8) }
        var bellFutex: Futex { Futex(at: bell.address) }
        /// Whether a thread sleeps on `bell`; while it spins, waking it costs no system call.
        package var isSleeping: SharedWord32 { SharedWord32(at: block + 12) }
        package var session: SharedWord64 { SharedWord64(at: block + 16) }
        /// The doorbell of the process, plus one, when a task waits and not a thread; else 0.
        package var doorbell: SharedWord32 { SharedWord32(at: block + 24) }
        /// Where the waiter is counted (`WaitCounts`).
        fileprivate var countedAt: SharedWord32 { SharedWord32(at: block + 28) }
        package var sinceMilliseconds: SharedWord64 { SharedWord64(at: block + 32) }
        /// The tuple that was last granted to the slot, or about to be; for `hasGranted`.
        var lastGrant: SharedWord64 { SharedWord64(at: block + 120) }
        package var ticket: SharedWord64 { SharedWord64(at: key + 16) }

        package var interest: Interest {
            Interest(selector: SharedWord64(at: key).loadRelaxed(), hash: SharedWord64(at: key + 8).loadRelaxed())
        }

        /// The template as text, as much as fits, for those who look on.
        package var text: String {
            get {
                let count = min(Int(SharedWord32(at: block + 40).load()), textCapacity)
                return String(decoding: UnsafeRawBufferPointer(start: block + 48, count: count), as: UTF8.self)
            }
            nonmutating set {
                var bytes = Array(newValue.utf8)
                if bytes.count > textCapacity { bytes = Array(bytes.prefix(textCapacity - 3)) + Array("…".utf8) }
                bytes.withUnsafeBytes {
                    (block + 48).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(block), byteCount: $0.count)
                }
                SharedWord32(at: block + 40).store(UInt32(bytes.count))
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

    /// The slots that have ever been used.
    package var range: Range<Int> { 0..<min(Int(end.load()), segments * Self.segmentCapacity) }

    // MARK: Publishing and leaving

    /// A slot for the time of one wait.
    ///
    /// The ticket, given out once, tells it from the slot's earlier and later tenants.
    package struct Tenancy: Sendable {
        package let slot: Slot
        package let ticket: UInt64

        package var isCurrent: Bool { slot.ticket.load() == ticket }
    }

    /// Publishes that `session` waits for `interest`.
    ///
    /// `nil` when the table is full.
    package func publish(_ interest: Interest, session: UInt64, doorbell: UInt32, sinceMilliseconds: UInt64) -> Tenancy?
    {
        // Counted before a slot is had, and discounted after it is given back: a kill in between leaves the count too
        // high, which costs writers a scan; too low, they would skip somebody who waits.
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
            slot.doorbell.store(doorbell)
            slot.isSleeping.store(0)
            slot.sinceMilliseconds.store(sinceMilliseconds)
            slot.text = ""
            SharedWord64(at: slot.key + 8).store(interest.hash)
            // From 1: "younger than 0" is everybody.
            let ticket = nextTicket.add(1) + 1
            slot.ticket.store(ticket)
            SharedWord64(at: slot.key).store(interest.selector)
            let place = counts.add(interest)
            slot.countedAt.store(place)
            CrashPoint.reach(.slotCounted)
            guard slot.change(from: filling, to: filling.next(.active)) else {
                // Swept meanwhile, and discounted: somebody took this session for dead.
                counts.subtract(interest, at: place)
                inUse.add(1)
                continue
            }
            SharedWord64.fence()
            CrashPoint.reach(.slotPublished)
            return Tenancy(slot: slot, ticket: ticket)
        }
        inUse.subtract(1)
        return nil
    }

    /// Takes a wait's slot out of the table; does nothing if it is another's by now.
    ///
    /// - Returns: The tuple that was granted to it and not yet looked at, which is to be offered on.
    package func withdraw(_ tenancy: Tenancy, session: UInt64) -> UInt64? {
        while true {
            let word = tenancy.slot.current
            guard word.state == .active || word.state == .granted, tenancy.isCurrent else { return nil }
            if free(tenancy.slot, in: word, ticket: tenancy.ticket, session: session) {
                return word.state == .granted ? word.payload : nil
            }
        }
    }

    /// Frees a slot if its word and ticket are still what the caller judged it by.
    ///
    /// Through FILLING: what the slot waits for is wiped while it is nobody's, never under a new tenant.
    package func free(_ slot: Slot, in word: Word, ticket: UInt64, session: UInt64) -> Bool {
        let emptying = word.next(.filling, payload: session)
        guard slot.change(from: word, to: emptying) else { return false }
        // A slot that is being filled has no ticket yet; the session in its word tells it from others.
        guard word.state == .filling || slot.ticket.load() == ticket else {
            giveBack(slot, emptying)
            return false
        }
        // Whoever was killed while it was FILLING may not have counted it yet, or no longer.
        if word.state != .filling { counts.subtract(slot.interest, at: slot.countedAt.load()) }
        SharedWord64(at: slot.key).store(0)
        // Swept while we were at it? Then whoever did has counted it.
        if slot.change(from: emptying, to: emptying.next(.free)) { inUse.subtract(1) }
        return true
    }

    /// Leaves the slot to the later tenant from which it was taken by mistake; that one looks again.
    private func giveBack(_ slot: Slot, _ emptying: Word) {
        _ = slot.change(from: emptying, to: emptying.next(.active))
        _ = slot.bell.add(1)
        slot.bellFutex.wake()
    }

    // MARK: When the table is full

    var hasOverflowWaiters: Bool { overflowUntil.loadSequential() != 0 }

    /// Says that somebody sleeps on `overflow` for the next tick.
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
