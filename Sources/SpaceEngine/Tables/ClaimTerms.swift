/// The terms on which a tuple is claimed.
package struct ClaimTerms: Sendable {
    package let holder: ClaimHolder
    /// How long the claim lasts, or `nil` if it lasts until it is ended or its holder ends.
    package let deadline: Duration?
    /// Whether the claim is the first half of a take: watchers are told of a take when it is completed, and otherwise
    /// of nothing.
    ///
    /// Such a claim has no deadline.
    package let isTake: Bool

    package init(holder: ClaimHolder, deadline: Duration?, isTake: Bool = false) {
        precondition(!isTake || deadline == nil, "the first half of a take has no deadline")
        self.holder = holder
        self.deadline = deadline
        self.isTake = isTake
    }

    /// The same with another holder.
    package func with(holder: ClaimHolder) -> ClaimTerms {
        ClaimTerms(holder: holder, deadline: deadline, isTake: isTake)
    }
}
