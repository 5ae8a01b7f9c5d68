import SpaceSystem

/// The changes of a namespace, one after the other: every change once, in order, or a gap that names the missed ones.
///
/// ```swift
/// for try await change in try jobs.changes(.tuples(["resize", .any])) {
///     print(change.kind, change.tuple ?? "")
/// }
/// ```
///
/// The consumer sets the pace. Changes are read from the namespace's journal as the consumer asks for them, so a slow
/// consumer neither delays a writer nor fills memory. A consumer that falls behind the journal's bound (65,536
/// changes or 16 MiB) gets a gap. When the namespace is deleted, the sequence yields what was committed before, then
/// `gone`, and ends.
///
/// The watcher is registered when the sequence is made: you see every later change, even those before the first
/// `next`. The registration ends with the last copy of the sequence and its iterators.
///
/// Each iterator is the sequence again: all of them share its position.
public struct Changes: AsyncSequence, AsyncIteratorProtocol, OwnIterator, Sendable {
    /// Where a sequence of changes begins.
    public enum Start: Sendable {
        /// Begins with the first change after the registration.
        case now
        /// Begins with the initial contents: the tuples and cells that exist at the moment of the registration,
        /// oldest first, as changes with ``Change/isPresent``; the changes after the registration follow.
        ///
        /// A copy that the consumer builds from them equals the namespace: nothing is missing and nothing comes twice,
        /// however much other processes write and take in the meantime. (A tuple whose time has passed counts until its
        /// `expire` is delivered.) The initial contents are read slice by slice, at the consumer's pace. If the journal
        /// has dropped changes since the registration before the last slice is read, a gap follows, and the consumer
        /// has to build its copy again.
        case initial
        /// Begins after a change: with the later changes that the journal still holds, and a gap for the rest.
        ///
        /// If no change has this number yet, the number is from another life of the namespace, or a mistake: the
        /// sequence then begins as ``resume(_:)`` does in another life.
        case after(UInt64)
        /// Begins after a change of one life of the namespace.
        ///
        /// In another life the sequence begins with a gap and then that life's first available change. The gap is
        /// from 1 to the last change that the journal has dropped, or from 0 to 0 (what came before this life) if it
        /// has dropped none.
        case resume(ResumePoint)
        /// Begins where the subscription of this name last acknowledged; a new subscription begins as with `now`.
        ///
        /// The subscription is kept while no process uses it, and so is the journal from its position on: after a watcher
        /// is killed, its next process continues after the last ``Changes/acknowledge(through:)``. The journal is kept
        /// within its bound (65,536 changes or 16 MiB, or the namespace's history); a subscription that falls further
        /// behind gets a gap. ``Namespace/endSubscription(_:)`` ends it.
        ///
        /// `of` is the life of the namespace in which the caller last had the subscription; `nil` if it is unknown. A
        /// subscription ends with its namespace. If the namespace is in another life now, the caller first gets a gap. It
        /// then begins with this life's first change, or at the position of the subscription that has this name in this
        /// life.
        case subscription(String, of: NamespaceLife? = nil)
    }

    package let source: ChangeSource

    /// The next change; `nil` after the namespace's end, and after cancellation.
    public func next(isolation actor: isolated (any Actor)?) async throws(SpaceError) -> Change? {
        try await source.next()
    }

    package var life: NamespaceLife { source.life }

    /// The place of the registration: resuming there yields everything that this sequence yields.
    public var resumePoint: ResumePoint { ResumePoint(sequence: source.registration.present, life: life) }

    /// The place up to which no more changes come: later than the last delivered change if the filter has left out the
    /// following ones.
    ///
    /// A watcher whose filter seldom lets a change through stores this place from time to time. Then it resumes there
    /// without a gap for changes that it did not want. The place moves while the watcher asks for the next change.
    public var progress: ResumePoint { ResumePoint(sequence: source.progress, life: life) }

    /// The place right after a change of this sequence.
    ///
    /// - Parameter change: The change.
    /// - Returns: The point to resume from once the change is dealt with.
    public func resumePoint(after change: Change) -> ResumePoint {
        ResumePoint(sequence: change.lastSequence, life: life)
    }

    /// The next change; `nil` if none comes in time, after the namespace's end, and after cancellation.
    public func next(timeout: Duration) async throws(SpaceError) -> Change? {
        try await source.next(until: MonotonicInstant.deadline(after: timeout))
    }

    /// The next change, blocking the thread; `nil` if none comes in time, and after the namespace's end.
    ///
    /// With a `timeout` of `nil`, only the interruption ends the wait; it throws `cancelled`.
    package func nextBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Change? {
        try source.nextBlocking(until: MonotonicInstant.deadline(after: timeout), interruption: interruption)
    }

    /// Acknowledges, for a subscription, all changes up to a number: they are not delivered again.
    ///
    /// - Throws: `subscriptionEnded` if another process has the subscription, or has ended it; what a write throws.
    public func acknowledge(through sequence: UInt64) throws(SpaceError) { try source.acknowledge(sequence) }
}
