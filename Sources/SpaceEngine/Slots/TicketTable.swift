import SpaceSystem

/// A table from tickets to slots, with which a writer finds the oldest waiting taker without reading all slots.
///
/// A writer walks through the tickets, from a *start* on, to the oldest active taker that may match. Takers are divided
/// into 64 *lines* by what they wait for, and each line has a start. So a taker that waits for long for one thing does
/// not make the walk long for another.
///
/// Guarantees: while a taker is asleep in an active slot, its line's start is not above its ticket, unless the holder of
/// the gate has just raised the start, or was killed after that. And its entry is there, or more tickets than there are
/// entries were given out since the start.
///
/// - A taker enters its slot before the slot becomes active. An entry of a younger ticket is never replaced by that of
///   an older one, so a process that is stopped before it enters its slot removes no other taker's entry.
/// - Only the holder of the gate raises a start: up to the oldest active taker that it has found. Then it looks once
///   more at the tickets that the start has passed, and lowers the start if a taker there has become active.
/// - A taker whose slot is granted, or not yet active, may be passed by the start. So when a taker's slot has become
///   active, and the start has passed the taker, it lowers the start before its look. The look sees every tuple that
///   was committed before. (After the look would be too late: another taker may have lowered the start, and then this
///   one does not notice that a writer has missed it.)
/// - The writer asks before and after the walk how many tickets were given out. If entries may have been replaced, the
///   writer scans the slots instead, and sets the start again.
///
/// A start that is too low, or an entry of a waiter that is gone, costs a longer walk, and at worst a scan. If the holder of
/// the gate is killed after it has raised a start too far, the process that takes over the gate wakes all waiters, and each
/// lowers the start before it looks again. `tools/model/waiting.pml` has the steps.
///
/// Unchecked Sendable: it holds addresses of words that are accessed only by atomic operations.
struct TicketTable: @unchecked Sendable {
    static let lines = 64
    static let startsByteCount = lines * 8
    static let capacity: UInt64 = 4096
    static let entriesByteCount = Int(capacity) * 8

    // An entry: the slot's index (bits 0–13), the line (14–19) and the ticket (20–63).
    private static let slotMask: UInt64 = 1 << 14 - 1
    private static let lineBits: UInt64 = 14
    private static let ticketBits: UInt64 = 20
    /// Tickets are below this; a greater number is damage.
    static let ticketLimit: UInt64 = 1 << (64 - ticketBits)

    private let starts: UnsafeMutableRawPointer
    private let entries: UnsafeMutableRawPointer

    init(starts: UnsafeMutableRawPointer, entries: UnsafeMutableRawPointer) {
        self.starts = starts
        self.entries = entries
    }

    // MARK: Entries

    @inline(__always)
    private func entry(_ ticket: UInt64) -> SharedWord64 {
        SharedWord64(at: entries + Int(ticket % Self.capacity) * 8)
    }

    /// Enters a taker's slot, before the slot becomes active.
    func enter(_ ticket: UInt64, slot: Int, line: Int) {
        guard ticket < Self.ticketLimit else { return }
        let own = ticket << Self.ticketBits | UInt64(line) << Self.lineBits | UInt64(slot) & Self.slotMask
        let entry = entry(ticket)
        var current = entry.load()
        while current < own {
            let (isEntered, found) = entry.compareExchange(expected: current, desired: own)
            if isEntered { return }
            current = found
        }
    }

    /// The index of the slot that a taker of one of these lines has entered, or `nil` if there is none with this ticket.
    @inline(__always)
    func slot(_ ticket: UInt64, in lines: UInt64) -> Int? {
        let entry = entry(ticket).load()
        guard entry >> Self.ticketBits == ticket, lines >> (entry >> Self.lineBits & 63) & 1 != 0 else { return nil }
        return Int(entry & Self.slotMask)
    }

    // MARK: Marks

    /// The smallest ticket that an active taker of a line may have, or 0 if that is not known.
    @inline(__always)
    func start(_ line: Int) -> SharedWord64 { SharedWord64(at: starts + line * 8) }

    /// The smallest start of some lines; 0 if one is not known.
    @inline(__always)
    func start(of lines: UInt64) -> UInt64 {
        var (smallest, rest) = (UInt64.max, lines)
        while rest != 0 {
            smallest = min(smallest, start(rest.trailingZeroBitCount).load())
            rest &= rest &- 1
        }
        return smallest
    }

    /// Raises the starts of these lines, as far as they are `from`; returns the lines whose starts were raised.
    func raise(_ lines: UInt64, from: UInt64, to ticket: UInt64) -> UInt64 {
        var (raised, rest) = (UInt64(0), lines)
        while rest != 0 {
            let line = rest.trailingZeroBitCount
            if start(line).compareExchange(expected: from, desired: ticket).exchanged { raised |= 1 << UInt64(line) }
            rest &= rest &- 1
        }
        return raised
    }

    /// Sets the starts of these lines, before a scan of the slots.
    func set(_ lines: UInt64, to ticket: UInt64) { forEach(lines) { start($0).storeSequential(ticket) } }

    /// Lowers the starts of these lines to a ticket, as far as they are above it.
    func lower(_ lines: UInt64, to ticket: UInt64) { forEach(lines) { lower($0, to: ticket) } }

    /// Lowers a line's start to a ticket, if it is above it.
    func lower(_ line: Int, to ticket: UInt64) {
        let start = start(line)
        var current = start.loadSequential()
        while current > ticket {
            let (isLowered, found) = start.compareExchange(expected: current, desired: ticket)
            if isLowered {
                // The look comes after this.
                SharedWord64.fence()
                break
            }
            current = found
        }
    }

    private func forEach(_ lines: UInt64, _ body: (Int) -> Void) {
        var rest = lines
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest &- 1
        }
    }
}
