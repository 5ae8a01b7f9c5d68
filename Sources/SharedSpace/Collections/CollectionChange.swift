import Synchronization
import TupleCoding

/// What an observer of an ordered set is told: an edit, or where all that there is begins anew.
public struct CollectionChange<Element> {
    /// What can happen.
    public enum Event {
        /// The elements are these: at first, and after changes that were missed or too large to be told.
        case reset([Element])
        /// What was done, one after the other, to the elements as they were; more than one where a move is told as pairs.
        case edits([CollectionEdit<Element>])
        /// The ordered set was removed, or the namespace deleted; nothing follows.
        case removed
    }

    /// What happened.
    public let event: Event
    /// The number of the change; of a reset, that of the last change that the elements hold.
    public let sequence: UInt64
    /// When, milliseconds since 1970.
    public let time: Int64
    /// The process that did it; 0 of a reset.
    public let pid: Int32
    /// The transaction: changes with the same number were committed together; 0 of a reset.
    public let batch: UInt64

    init(_ event: Event, _ change: Change, sequence: UInt64? = nil) {
        self.event = event
        self.sequence = sequence ?? change.lastSequence
        time = change.time
        pid = change.pid
        batch = change.batch
    }

    /// Does the same to a copy of the elements.
    ///
    /// A copy that is begun with a reset and is given every change since equals the ordered set.
    ///
    /// - Returns: Whether the change fits the copy.
    /// - Complexity: O(n).
    @discardableResult
    public func apply(to copy: inout [Element]) -> Bool {
        switch event {
        case .reset(let elements): copy = elements
        case .edits(let edits):
            for edit in edits { guard edit.apply(to: &copy) else { return false } }
        case .removed: copy = []
        }
        return true
    }

    /// What the change does to a copy, as removals and insertions that a list view can carry out.
    ///
    /// Of a reset, all elements go and all come; where they are `Equatable`, compare them with `difference(from:)` if fewer are
    /// wanted.
    ///
    /// - Parameter copy: The elements before the change.
    /// - Returns: The difference; `nil` when the change does not fit the copy.
    /// - Complexity: O(n).
    public func difference(from copy: [Element]) -> CollectionDifference<Element>? {
        if case .edits(let edits) = event, edits.count == 1 { return edits[0].difference(from: copy) }
        var after = copy
        guard apply(to: &after) else { return nil }
        let gone = copy.enumerated().map {
            CollectionDifference<Element>.Change.remove(offset: $0, element: $1, associatedWith: nil)
        }
        let come = after.enumerated().map {
            CollectionDifference<Element>.Change.insert(offset: $0, element: $1, associatedWith: nil)
        }
        return CollectionDifference(gone + come)
    }
}

extension CollectionChange.Event: Sendable where Element: Sendable {}
extension CollectionChange: Sendable where Element: Sendable {}

/// How an observer of an ordered set is told of its changes.
public struct CollectionObservationOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes options of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// At first, a reset with what is there; no change that it holds is told again.
    public static let initial = CollectionObservationOptions(rawValue: 1)
    /// Moves and exchanges as removals and insertions, for observers that know no moves.
    public static let movesAsPairs = CollectionObservationOptions(rawValue: 2)
}

/// Makes of what the journal tells of an ordered set what its observer is told.
///
/// Guarantees: whoever applies it to a copy, from a reset on, has after each change what the ordered set had then. A reset is read
/// from a snapshot that is later than the change that calls for it; so changes up to that snapshot are not told again.
final class CollectionTeller<Element: Codable & Sendable>: Sendable {
    private let set: SharedOrderedSet<Element>
    private let options: CollectionObservationOptions
    private let state = Mutex(State())

    private struct State {
        /// The last change that the observer's copy holds.
        var position: UInt64 = 0
        /// Something could not be told: only a reset can follow.
        var mustReset = false
        /// A reset was told.
        var hasBegun = false
        var hasEnded = false
    }

    init(_ set: SharedOrderedSet<Element>, _ options: CollectionObservationOptions) {
        self.set = set
        self.options = options
    }

    /// Returns: `nil` for what the observer knows already.
    ///
    /// Throws: `badData` for elements that don't decode; the next change brings a reset, if they have gone by then.
    func tell(_ change: Change) throws(SpaceError) -> CollectionChange<Element>? {
        let (position, mustReset, hasEnded) = state.withLock { ($0.position, $0.mustReset, $0.hasEnded) }
        if hasEnded { return nil }
        switch change.kind {
        case .gone, .discard:
            state.withLock { $0.hasEnded = true }
            return CollectionChange(.removed, change)
        case _ where change.lastSequence <= position && !change.isPresent:
            return nil
        default: break
        }
        state.withLock { $0.mustReset = true }
        if !mustReset, let edit = change.edit {
            let edit = try edit.map { (value) throws(SpaceError) in try decode(value, change) }
            settle(change.lastSequence)
            return CollectionChange(.edits(options.contains(.movesAsPairs) ? edit.pairs : [edit]), change)
        }
        do throws(SpaceError) {
            let (elements, sequence) = try set.read(0..<Int.max, "observe")
            settle(sequence)
            state.withLock { $0.hasBegun = true }
            return CollectionChange(.reset(elements), change, sequence: sequence)
        } catch  where error.code == .closed || error.code == .namespaceDeleted {
            // What was to be read has gone since: the change that says so follows.
            return nil
        }
    }

    /// The first of all: what is there, once, for an observer that asked for it.
    func initial() throws(SpaceError) -> CollectionChange<Element>? {
        guard options.contains(.initial), state.withLock({ !$0.hasBegun }) else { return nil }
        return try tell(Change(presentCollection: set.name, at: 0))
    }

    /// Whether the ordered set has gone.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    private func settle(_ sequence: UInt64) {
        state.withLock { state in
            state.position = sequence
            state.mustReset = false
        }
    }

    private func decode(_ value: Value, _ change: Change) throws(SpaceError) -> Element {
        do throws(TupleCodingError) {
            return try value.decode(Element.self)
        } catch {
            throw SpaceError(
                .badData,
                "observe",
                namespace: set.namespace.name,
                reason: "an element in change \(change.sequence) of \(set.name.quotedForPeople) does not decode as "
                    + "\(Element.self): \(error)",
                advice: "see that all processes use the same type"
            )
        }
    }
}
