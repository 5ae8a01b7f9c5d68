/// The parts of a session's number: the member on whose machine the process runs, and a count.
///
/// A namespace of one machine has no members: its sessions have member 0. In a namespace that several machines share,
/// the number says on all of them whose the session is.
///
///     bits 0 to 36   the count, from 1
///     bits 37 to 60  the member
package enum SessionNumber {
    /// The first bit of the member.
    private static let countBits: UInt64 = 37
    /// The count is below this.
    package static let countLimit: UInt64 = 1 << countBits
    /// A member's number is at most this, so that a claim's holder has room for it (`ClaimHolder`).
    ///
    /// With one new member a minute, the numbers last for 32 years.
    package static let lastMember: UInt32 = 0xFF_FFFF

    package static func number(member: UInt32, count: UInt64) -> UInt64 { UInt64(member) << countBits | count }

    package static func member(of session: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: session >> countBits) }
}
