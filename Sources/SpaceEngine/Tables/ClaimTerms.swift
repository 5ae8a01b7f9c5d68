import SpaceSystem

/// The terms on which a tuple is claimed.
package struct ClaimTerms: Sendable {
    package let holder: ClaimHolder
    /// How long the claim lasts, or `nil` if it lasts until it is ended or its holder ends.
    package let deadline: Duration?

    package init(holder: ClaimHolder, deadline: Duration?) {
        self.holder = holder
        self.deadline = deadline
    }
}
