import SpaceSystem

/// By which process and when a tuple or an item was written, in eight bytes.
///
/// It is for people, and nothing depends on it. The time is the system's clock in seconds, read without a system call
/// and late by a tick of the kernel at most; in 32 bits it lasts until 2106. A PID has 22 bits (proc(5), `pid_max`).
package struct Origin: Hashable, Sendable {
    /// Seconds since 1970 in the lower half, the PID in the upper.
    package let raw: UInt64

    @inline(__always)
    package init(raw: UInt64) { self.raw = raw }

    @inline(__always)
    package init(pid: Int32, seconds: UInt32) {
        raw = UInt64(UInt32(bitPattern: pid)) << 32 | UInt64(seconds)
    }

    /// Of this moment.
    @inline(__always)
    package static func now(_ pid: Int32) -> Origin { Origin(pid: pid, seconds: Clock.coarseSeconds()) }

    package static let unknown = Origin(raw: 0)

    package var pid: Int32 { Int32(truncatingIfNeeded: raw >> 32) }
    package var seconds: UInt32 { UInt32(truncatingIfNeeded: raw) }
    /// When it was written, in milliseconds since 1970; 0: unknown.
    package var milliseconds: Int64 { Int64(seconds) * 1000 }
}
