package import SpaceSystem

/// Whose a claim is: at whose end the tuple returns.
///
/// In one word of the claim's row: a session's number as it is, 2⁶⁴ − 1 for nobody, and a process as bit 63, its PID in
/// bits 41 to 62 (proc(5), `pid_max`: at most 2²²) and its start time below, which in ticks of 10 ms lasts 697 years.
package enum ClaimHolder: Hashable, Sendable {
    /// A process that has the namespace open.
    case session(UInt64)
    /// A process that somebody claimed for: it need not have the namespace open.
    case process(ProcessIdentity)
    /// Nobody: the tuple is set aside.
    case nobody

    private static let processBit: UInt64 = 1 << 63
    private static let startBits: UInt64 = 41
    private static let startMask: UInt64 = 1 << startBits - 1

    package init(raw: UInt64) {
        if raw == .max {
            self = .nobody
        } else if raw & Self.processBit != 0 {
            let pid = Int32(truncatingIfNeeded: (raw & ~Self.processBit) >> Self.startBits)
            self = .process(ProcessIdentity(pid: pid, startTime: raw & Self.startMask))
        } else {
            self = .session(raw)
        }
    }

    package var raw: UInt64 {
        switch self {
        case .session(let number): number
        case .process(let process):
            Self.processBit | UInt64(UInt32(bitPattern: process.pid)) << Self.startBits
                | process.startTime & Self.startMask
        case .nobody: .max
        }
    }
}
