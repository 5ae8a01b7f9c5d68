import ClusterStore
import SpaceEngine

/// A namespace's looks at the head of its log, beside the watch: a watch may be silent without an end.
///
/// The session reads the heads of many namespaces at once. What a look finds counts only for the part that the machine took
/// when the look began.
struct HeadLooks {
    /// What was known when a look began.
    struct Look: Sendable {
        fileprivate let part: Int
        fileprivate let head: UInt64
        fileprivate let revision: Int64
        fileprivate let least: UInt64
    }

    private var part = 0
    private var isTakingPart = false
    /// The head that the last look found.
    private var found: UInt64 = 0
    /// What is wrong by the last look.
    private(set) var failure: Leaving?

    /// The machine has learned all that the store says, and listens to the watch.
    mutating func begin() { (part, isTakingPart, found, failure) = (part + 1, true, 0, nil) }

    /// The machine does not take part until it begins again.
    mutating func pause() { isTakingPart = false }

    /// Begins a look.
    ///
    /// - Parameters:
    ///   - head: The head that the watch has told.
    ///   - revision: How far the watch has come.
    ///   - applied: The entry up to which the replica goes.
    /// - Returns: The look; `nil` if there is nothing to look for.
    func look(at head: UInt64, _ revision: Int64, applied: UInt64) -> Look? {
        isTakingPart ? Look(part: part, head: head, revision: revision, least: max(found, applied)) : nil
    }

    /// Ends a look with what the store has said.
    ///
    /// - Parameters:
    ///   - look: The look.
    ///   - life: The life that the machine takes part in.
    ///   - id: The row with the namespace's life.
    ///   - head: The row with the head of the log.
    ///   - revision: The store's revision.
    ///   - hasUnread: Whether the watch has told what the namespace has not looked at.
    /// - Returns: Whether the watch has to begin again.
    mutating func end(
        _ look: Look,
        _ life: NamespaceLife,
        id: StoreRow?,
        head: StoreRow?,
        _ revision: Int64,
        hasUnread: Bool
    ) -> Bool {
        guard isTakingPart, look.part == part, failure == nil else { return false }
        if revision < look.revision {
            failure = .again("the store was set back")
            return true
        }
        guard id?.number == life.number else {
            failure = .gone
            return false
        }
        guard let head = head?.number, head >= look.least else {
            failure = .again("the head of the log is missing in the store, or lower than it was")
            return true
        }
        // The watch had the whole interval before this look for what was there at its beginning.
        if found > look.head, !hasUnread {
            failure = .again("the watch is silent")
            return true
        }
        found = head
        return false
    }
}
