import LMDB
import SpaceSystem
import Synchronization
import TupleCoding

/// The changes of a namespace, one after the other: every change once, in order, or a gap that says what was missed.
///
/// ```swift
/// for try await change in try jobs.changes(matching: ["resize", .any]) {
///     print(change.kind, change.tuple ?? "")
/// }
/// ```
///
/// The consumer sets the pace: changes are read from the namespace's journal as they are asked for, so a slow consumer neither
/// holds a writer up nor fills memory. One that falls behind the journal's bound (65,536 changes or 16 MiB) gets a
/// gap. When the namespace is deleted, the sequence tells what was committed before, then `gone`, and ends. Registered from the
/// call on: nothing after it is missed, even before the first `next`. The registration ends with the last copy of the sequence
/// and its iterators.
public struct Changes: AsyncSequence, Sendable {
    /// What the sequence yields.
    public typealias Element = Change

    /// Where a sequence of changes begins.
    public enum Start: Sendable, Hashable {
        /// With the first change after the registration.
        case now
        /// With what is there: the tuples and cells of the moment of the registration, oldest first, as changes that are
        /// ``Change/isPresent``; then with the first change after it.
        ///
        /// A copy that is kept by what is told equals the namespace: nothing is missing, nothing comes twice, however much
        /// others write and take meanwhile. (Tuples whose time has passed count until their `expire` is told.) It is read
        /// bit by bit, at the consumer's pace; should the journal not hold all that has happened since the registration by the
        /// time the last of it is read, the gap that follows says so, and a copy is to be begun anew.
        case initial
        /// After a change: with what the journal still holds of what came later, a gap for the rest.
        ///
        /// A number that no change has yet is of another life of the namespace, or a mistake: it begins as ``resume(_:)`` does
        /// then.
        case after(UInt64)
        /// After a change of one life of the namespace.
        ///
        /// In another life it begins with that life's first change, and a gap comes before all else: from 1 to the last change
        /// that is no longer to be had, or from 0 to 0 (what came before this life) where all are.
        case resume(ResumePoint)
        /// Where the subscription of this name last acknowledged; its first process begins as with `now`.
        case subscription(String)
    }

    package let source: ChangeSource

    /// An iterator.
    ///
    /// All iterators of a sequence share its position.
    public struct AsyncIterator: AsyncIteratorProtocol {
        package let source: ChangeSource

        /// The next change; `nil` after the namespace's end, and after cancellation.
        public mutating func next() async throws(SpaceError) -> Change? { try await source.next() }

        /// The next change; `nil` after the namespace's end, and after cancellation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SpaceError) -> Change? {
            try await source.next()
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// The last change at the time of registering: everything later is delivered.
    public var start: UInt64 { source.registration.present }

    /// The life of the namespace whose changes these are.
    public var life: NamespaceLife { source.life }

    /// The place from which everything that this sequence tells goes on: the registration.
    public var resumePoint: ResumePoint { ResumePoint(sequence: start, life: life) }

    /// The place after a change of this sequence.
    ///
    /// - Parameter change: The change.
    /// - Returns: Where to resume when the change has been dealt with.
    public func resumePoint(after change: Change) -> ResumePoint {
        ResumePoint(sequence: change.lastSequence, life: life)
    }

    /// The next change; `nil` when there is none in time, after the namespace's end, and after cancellation.
    public func next(timeout: Duration) async throws(SpaceError) -> Change? {
        try await source.next(until: MonotonicInstant.deadline(after: timeout))
    }

    /// The next change, blocking the thread; `nil` when there is none in time, and after the namespace's end.
    ///
    /// `timeout`: `nil`: no limit but the interruption, which throws `cancelled`.
    package func nextBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Change? {
        try source.nextBlocking(until: MonotonicInstant.deadline(after: timeout), interruption: interruption)
    }

    /// Of a subscription: says that everything up to a change has been dealt with, and need not come again.
    public func acknowledge(through sequence: UInt64) throws(SpaceError) { try source.acknowledge(sequence) }
}
