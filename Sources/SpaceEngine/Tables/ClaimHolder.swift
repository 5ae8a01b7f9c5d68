package import SpaceSystem

/// The holder of a claim: when it ends, the tuple returns.
///
/// The claim's row keeps the holder in one word:
/// - A session is its number.
/// - 2⁶⁴ − 1 means that the claim has no holder.
/// - A process is bit 63, its PID in bits 41 to 62 (proc(5), `pid_max`: at most 2²²) and its start time in the bits
///   below. The start time is in ticks of 10 ms, for which 41 bits last 697 years.
package enum ClaimHolder: Hashable, Sendable {
    /// A process that has the namespace open.
    case session(UInt64)
    /// A process for which another process claimed; it need not have the namespace open.
    case process(ProcessIdentity)
    /// No holder: the tuple is set aside.
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

    /// Whether a session may end the holder's claims.
    ///
    /// A claim held for a process can be ended by any process that knows its number, because such claims are passed
    /// from command to command.
    package func mayBeEnded(by session: UInt64) -> Bool {
        switch self {
        case .session(session), .process: true
        default: false
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
