package import SpaceSystem

/// The holder of a claim: when it ends, the tuple returns.
///
/// The claim's row keeps the holder in one word:
/// - A session is its number.
/// - 2⁶⁴ − 1 means that the claim has no holder.
/// - A process is bit 63, its PID in bits 41 to 62 (proc(5), `pid_max`: at most 2²²) and its start time in the bits
///   below. The start time is in ticks of 10 ms, for which 40 bits last 348 years.
/// - In a namespace that several machines share, bit 40 of a process is set, bits 16 to 39 are its machine's member, and
///   bits 0 to 15 the low bits of its start time: a process that has got the PID of a dead holder is taken for it if they
///   are the same, once in 65,536.
package enum ClaimHolder: Hashable, Sendable {
    /// A process that has the namespace open.
    case session(UInt64)
    /// A process for which another process claimed; it need not have the namespace open.
    ///
    /// The member is that of the process's machine; 0 in a namespace of one machine. With a member, only the low bits of
    /// the start time are known (``ProcessIdentity/life(ofLowBits:)``).
    case process(ProcessIdentity, member: UInt32 = 0)
    /// No holder: the tuple is buried, or rests until a time.
    case nobody

    private static let processBit: UInt64 = 1 << 63
    private static let startBits: UInt64 = 41
    private static let memberBit: UInt64 = 1 << 40
    private static let startMask: UInt64 = memberBit - 1
    private static let memberShift: UInt64 = 16
    /// How many low bits of the start time are kept for a process of a member.
    package static let lowStartBits = Int(memberShift)
    private static let lowStartMask: UInt64 = 1 << memberShift - 1

    package init(raw: UInt64) {
        if raw == .max {
            self = .nobody
        } else if raw & Self.processBit != 0 {
            let pid = Int32(truncatingIfNeeded: (raw & ~Self.processBit) >> Self.startBits)
            if raw & Self.memberBit == 0 {
                self = .process(ProcessIdentity(pid: pid, startTime: raw & Self.startMask))
            } else {
                let start = raw & Self.lowStartMask
                let member = UInt32(truncatingIfNeeded: raw >> Self.memberShift) & SessionNumber.lastMember
                self = .process(ProcessIdentity(pid: pid, startTime: start), member: member)
            }
        } else {
            self = .session(raw)
        }
    }

    /// The member on whose machine the holder runs, 0 in a namespace of one machine; `nil` without a holder.
    package var member: UInt32? {
        switch self {
        case .session(let number): SessionNumber.member(of: number)
        case .process(_, let member): member
        case .nobody: nil
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
        case .process(let process, member: 0):
            Self.processBit | UInt64(UInt32(bitPattern: process.pid)) << Self.startBits
                | process.startTime & Self.startMask
        case .process(let process, let member):
            Self.processBit | UInt64(UInt32(bitPattern: process.pid)) << Self.startBits | Self.memberBit
                | UInt64(member & SessionNumber.lastMember) << Self.memberShift
                | process.startTime & Self.lowStartMask
        case .nobody: .max
        }
    }
}
