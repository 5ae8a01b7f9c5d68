import SpaceSystem

/// On what terms a tuple is claimed.
package struct ClaimTerms: Sendable {
    package let holder: ClaimHolder
    /// How long; `nil`: until it is ended or the holder has.
    package let deadline: Duration?

    package init(holder: ClaimHolder, deadline: Duration?) {
        self.holder = holder
        self.deadline = deadline
    }
}
