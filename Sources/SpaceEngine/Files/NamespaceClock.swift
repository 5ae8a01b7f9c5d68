import SpaceSystem

/// The clock of a namespace's expiries and deadlines.
///
/// Guarantees: if the machine's clock is set, nothing ends early. The reason is that this clock runs with the time
/// since boot (`CLOCK_BOOTTIME`, suspended time included), which no process can set. The process that creates or adopts
/// the namespace sets how far its clock is ahead of that time. After a reboot, or in another time namespace, the clock
/// continues by the real time that has passed.
package struct NamespaceClock: Sendable {
    /// How far the clock is ahead of the time since boot, in milliseconds (`ControlHeader.clockOffset`).
    package let offset: Int64
    /// How far a replica's clock was set forward beyond that (`ControlFile.clockAhead`).
    private let ahead: SharedWord64?

    package init(_ header: ControlHeader) { self.init(offset: header.clockOffset) }

    /// Makes the clock of a namespace that this process has open.
    init(_ control: ControlFile) {
        offset = control.header.clockOffset
        ahead = control.clockAhead
    }

    /// Makes a clock that is a number of milliseconds ahead of the time since boot.
    package init(offset: Int64) {
        self.offset = offset
        ahead = nil
    }

    /// Makes the clock of a namespace that is current elsewhere, as a process that adopts it here would set it.
    package init(_ header: ControlHeader, seenFrom host: HostIdentity) {
        var header = header
        if !header.countsTime(as: host) { header.setClock() }
        self.init(header)
    }

    /// The real time of the boot: now, less the time since boot.
    package static var realtimeAtBoot: Int64 { Clock.realtimeAtBootMilliseconds() }

    /// The time now: milliseconds since the boot in which the namespace was created, or since 1970 in `.durable`.
    package var milliseconds: Int64 { Clock.boottimeMilliseconds() &+ lead }

    /// How far the clock is ahead of the time since boot.
    private var lead: Int64 { offset &+ (ahead.map { Int64(bitPattern: $0.load()) } ?? 0) }

    /// Sets a replica's clock forward to a time at which another machine has written; it is never set back.
    ///
    /// The caller holds the gate.
    func setForward(to time: Int64) {
        let late = time &- milliseconds
        guard let ahead, late > 0 else { return }
        ahead.add(UInt64(late))
    }

    /// Converts a time of this clock to milliseconds since 1970, for people and for dumps.
    package func realtime(_ milliseconds: Int64) -> Int64 {
        // In a damaged file, the time may be any number.
        milliseconds &- lead &+ Self.realtimeAtBoot
    }

    /// Converts milliseconds since 1970 to a time of this clock.
    package func time(ofRealtime milliseconds: Int64) -> Int64 { milliseconds &- Self.realtimeAtBoot &+ lead }

    /// The time after a duration, in milliseconds, rounded up; at most a few hundred million years ahead.
    package func time(after duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let span = Int64(clamping: seconds.multipliedFullWidth(by: 1000).high == 0 ? seconds &* 1000 : .max)
        let bounded = min(max(span, 0), 1 << 60) + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return milliseconds + bounded
    }
}
