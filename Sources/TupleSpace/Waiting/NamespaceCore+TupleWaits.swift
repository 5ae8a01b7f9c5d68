import SpaceSystem
import TupleCoding

// Finding a tuple that matches. These are no steps: a match that is there at once must cost nothing but the look, and a
// look decodes with the caller's closure, which a value could only keep by allocating.

/// How long a thread that finds no match waits for one.
package enum Patience {
    /// It looks once.
    case none
    /// It sleeps until there is a match, the time has passed (`nil`: without a limit) or the interruption comes.
    case waiting(Duration?, Interruption? = nil)
}

extension NamespaceCore {
    /// Looks for a match, on the calling thread.
    @inline(__always)
    func find<Result>(
        _ template: Template,
        isTaking: Bool,
        _ patience: Patience,
        _ look: () throws(SpaceError) -> Found<Result>?
    ) throws(SpaceError) -> Result? {
        guard case .waiting(let timeout, let interruption) = patience else { return try look()?.result }
        return try block(
            Interest(template, isTaking: isTaking),
            text: template.json,
            until: MonotonicInstant.deadline(after: timeout),
            interruption: interruption,
            look
        )
    }

    /// Looks for a match until there is one; the task is suspended between two looks.
    @inline(__always)
    func suspend<Result>(
        for template: Template,
        isTaking: Bool,
        timeout: Duration?,
        _ look: () throws(SpaceError) -> Found<Result>?
    ) async throws(SpaceError) -> Result? {
        try await suspend(
            Interest(template, isTaking: isTaking),
            text: { template.json },
            until: MonotonicInstant.deadline(after: timeout),
            look
        )
    }
}
