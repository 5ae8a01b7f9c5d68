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
