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
    ///
    /// `first` is the first look if it was made; its time limit then holds.
    @inline(__always)
    func suspend<Result>(
        for template: Template,
        isTaking: Bool,
        after first: FirstLook? = nil,
        timeout: Duration?,
        _ look: () throws(SpaceError) -> Found<Result>?
    ) async throws(SpaceError) -> Result? {
        try await suspend(
            Interest(template, isTaking: isTaking),
            text: { template.json },
            after: first ?? FirstLook(timeout: timeout),
            look
        )
    }
}

/// The beginning of a wait as a task: the look that most waits end with, and what it has left.
@usableFromInline
struct FirstLook {
    /// When the wait ends; `nil`: with a match only.
    let deadline: MonotonicInstant?
    /// Whether the look was made.
    private(set) var isMade = false
    /// Why the look could not be carried out; that does not end the wait.
    private(set) var hindrance: SpaceError?

    @usableFromInline
    init(timeout: Duration?) { deadline = MonotonicInstant.deadline(after: timeout) }

    init(until deadline: MonotonicInstant?) { self.deadline = deadline }

    /// Looks once, unless the task is cancelled.
    @inline(__always)
    mutating func make<R>(
        in core: NamespaceCore,
        _ look: () throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> Found<R>? {
        if Task.isCancelled { throw .cancelled }
        isMade = true
        return try core.lookIfPossible(&hindrance, look)
    }
}
