import ClusterStore

/// Looking whether the watch is silent: a connection may deliver nothing more, and not end.
///
/// The session reads the store for many namespaces at once, between ``beginLook()`` and
/// ``endLook(_:id:head:revision:)`` of each.
extension LiveNamespace {
    /// What is known before a look at the store; `nil`: this machine does not take part now.
    func beginLook() -> HeadLooks.Look? { looks.look(at: watchedHead, watchedRevision, applied: applied) }

    /// Compares what the store says with what is known.
    ///
    /// - Returns: Whether the watch itself has to begin again.
    func endLook(_ look: HeadLooks.Look, id: StoreRow?, head: StoreRow?, revision: Int64) -> Bool {
        let isSilent = looks.end(look, keys.life, id: id, head: head, revision, hasUnread: watch.hasUnread(of: keys))
        if looks.failure != nil { badLooks.nudge() }
        return isSilent
    }

    /// Waits until a look has found that the machine can't go on as it does; throws why.
    func waitForBadLook() async throws {
        while true {
            let seen = badLooks.count
            if let failure = looks.failure { throw failure }
            try Task.checkCancellation()
            await badLooks.wait(after: seen)
        }
    }
}
