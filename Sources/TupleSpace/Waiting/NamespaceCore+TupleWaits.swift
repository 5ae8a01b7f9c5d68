import SpaceSystem
import TupleCoding

// Waiting for a tuple that matches. These are no steps: a match that is there at once must cost nothing but the look,
// and a look decodes with the caller's closure, which a value could only keep by allocating.

extension NamespaceCore {
    /// Looks for a match until there is one; the calling thread sleeps between two looks.
    @inline(__always)
    func block<Result>(
        _ operation: String,
        for template: Template,
        isTaking: Bool,
        timeout: Duration?,
        interruption: Interruption?,
        _ look: () throws(SpaceError) -> Found<Result>?
    ) throws(SpaceError) -> Result? {
        try block(
            operation,
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
        _ operation: String,
        for template: Template,
        isTaking: Bool,
        timeout: Duration?,
        _ look: () throws(SpaceError) -> Found<Result>?
    ) async throws(SpaceError) -> Result? {
        try await suspend(
            operation,
            Interest(template, isTaking: isTaking),
            text: { template.json },
            until: MonotonicInstant.deadline(after: timeout),
            look
        )
    }
}
