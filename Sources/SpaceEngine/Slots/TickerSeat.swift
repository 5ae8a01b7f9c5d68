import SpaceSystem

/// The seat of a namespace's ticker: of all processes that wait or watch in it, the one that looks every 250 ms for what
/// a killed process left undone.
///
/// The seat has one word, changed by compare-and-swap only, and one that counts the ticker's ticks:
///
///     EMPTY → session → EMPTY | another session
///
/// - A process takes the seat if it is empty, if its session has ended, or if the ticks have not been counted on for
///   700 ms: the ticker was stopped.
/// - The ticker empties the seat when it leaves the namespace, or when no process waits or watches any more.
/// - A ticker that goes on after a stop finds another session in the seat, and follows.
///
/// A second seat is the deputy's: of the processes that follow, the one that looks once a second whether the ticker is
/// stopped.
///
/// - A process that follows takes the deputy's seat if it is empty, or if its session has ended.
/// - The deputy counts its looks. If they have not been counted on for 2.5 seconds, the deputy is stopped: the ticker
///   empties the deputy's seat and nudges all, and another process takes it.
/// - The deputy empties its seat and nudges all when it becomes the ticker, when it leaves the namespace, or when no
///   process waits or watches any more.
///
/// Guarantees: while a process that is neither stopped nor dead waits or watches, the namespace is ticked for. A killed
/// ticker or deputy is replaced at once, because each process that follows listens for the ends of both. A stopped
/// ticker is replaced within two seconds, a stopped deputy within four. If both are stopped at the same time, any other
/// process replaces the ticker at its own looks, whose interval grows with the number of waiters: within two seconds if
/// there are up to eight waiters, and within a minute in any case. If every waiting process ticked for itself, two
/// hundred idle waiters would wake eight hundred times a second; if every one looked once a second, two hundred times.
///
/// All words are hints: two tickers at once only do the same work twice. `tools/model/ticking.pml` has the steps.
package struct TickerSeat: Sendable {
    /// The number of the session that has the seat, or 0 if the seat is empty.
    private let holder: SharedWord64
    private let ticks: SharedWord64

    /// Wraps two words, 16 bytes.
    init(at address: UnsafeMutableRawPointer) {
        holder = SharedWord64(at: address)
        ticks = SharedWord64(at: address + 8)
    }

    /// What a process sees of the seat at one moment.
    package struct Sighting: Equatable, Sendable {
        /// The session that has the seat, or 0 if the seat is empty.
        package let session: UInt64
        /// How many ticks, or looks, the sessions in the seat have made.
        package let ticks: UInt64
    }

    package var sighting: Sighting { Sighting(session: holder.loadSequential(), ticks: ticks.load()) }

    /// Gives the seat to a session, or empties it if `session` is 0; does so only if the seat is still as the caller
    /// has seen it.
    package func take(from seen: Sighting, for session: UInt64) -> Bool {
        holder.compareExchange(expected: seen.session, desired: session).exchanged
    }

    /// Empties the seat, if the session has it.
    ///
    /// - Returns: Whether the session had it.
    @discardableResult
    package func leave(_ session: UInt64) -> Bool { holder.compareExchange(expected: session, desired: 0).exchanged }

    /// Counts a tick, or a look, and returns the count.
    @discardableResult
    package func countTick() -> UInt64 { ticks.add(1) &+ 1 }
}
