/// A change of an ordered set, as its observers get it: edits, or a reset with all elements.
public struct CollectionChange<Element> {
    /// The kinds of change.
    public enum Event {
        /// All elements: at first, and after changes that were missed or too large to be journaled.
        case reset([Element])
        /// Edits, one after the other, to the elements as they were; more than one if a move is reported as pairs.
        case edits([CollectionEdit<Element>])
        /// The ordered set was removed or the namespace deleted; nothing follows.
        case removed
    }

    /// The change itself.
    public let event: Event
    /// The number of the change; for a reset, the number of the last change that the elements contain.
    public let sequence: UInt64
    /// The time of the change, in milliseconds since 1970.
    public let time: Int64
    /// The process that made the change; 0 for a reset.
    public let pid: Int32
    /// The number of the transaction: changes with the same number were committed together; 0 for a reset.
    public let batch: UInt64
    /// The handle of the ordered set, of its own type, which only the extension for shareable elements names.
    private let origin: any Sendable

    init(
        _ event: Event,
        _ change: Change,
        of set: SharedOrderedSet<Element>,
        sequence: UInt64? = nil
    ) where Element: Codable & Sendable {
        self.event = event
        origin = set
        self.sequence = sequence ?? change.lastSequence
        time = change.time
        pid = change.pid
        batch = change.batch
    }

    /// Applies the change to a copy of the elements.
    ///
    /// A copy that begins with a reset and gets every later change equals the ordered set.
    ///
    /// An observer that knows only removals and insertions, such as a list view, gets all changes in this form:
    ///
    /// ```swift
    /// change.apply(to: &copy, removed: { _, index in view.remove(at: index) }) { song, index in
    ///     view.insert(song, at: index)
    /// }
    /// ```
    ///
    /// The removals come first, from the last index to the first, with the indices before the change. The insertions
    /// follow, from the first index to the last, with the indices after the change. So the observer can carry out each
    /// as it comes. A reset removes all elements of the copy and inserts those of the ordered set.
    ///
    /// - Parameters:
    ///   - copy: The elements as they were before the change.
    ///   - removed: Called with each element that goes, and its index.
    ///   - inserted: Called with each element that comes, and its index.
    /// - Returns: Whether the change fits the copy; if not, neither function is called.
    /// - Complexity: O(n).
    @discardableResult
    public func apply(
        to copy: inout [Element],
        removed: (Element, Int) -> Void,
        inserted: (Element, Int) -> Void
    ) -> Bool {
        guard let difference = difference(from: copy), apply(to: &copy) else { return false }
        for case .remove(let index, let element, _) in difference.removals.reversed() { removed(element, index) }
        for case .insert(let index, let element, _) in difference.insertions { inserted(element, index) }
        return true
    }

    /// Applies the change to a copy of the elements.
    ///
    /// A copy that begins with a reset and gets every later change equals the ordered set.
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

    /// The effect of the change on a copy, as removals and insertions that a list view can carry out.
    ///
    /// For a reset, these remove all old elements and insert all new ones. If the elements are `Equatable`, comparing
    /// them with `difference(from:)` gives fewer.
    ///
    /// - Parameter copy: The elements before the change.
    /// - Returns: The difference, or `nil` if the change does not fit the copy.
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

extension CollectionChange where Element: Codable & Sendable {
    /// The ordered set that has changed, for reading and editing; it may have changed again since.
    public var set: SharedOrderedSet<Element> {
        guard let set = origin as? SharedOrderedSet<Element> else {
            preconditionFailure("a change has the handle of its own ordered set")
        }
        return set
    }
}

extension CollectionChange.Event: Sendable where Element: Sendable {}
extension CollectionChange: Sendable where Element: Sendable {}

/// The changes of an ordered set, one after the other.
public typealias CollectionChanges<Element: Codable & Sendable> = CollectionChangeSequence<CollectionChange<Element>>
