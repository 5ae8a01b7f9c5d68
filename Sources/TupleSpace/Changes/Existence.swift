package import SpaceSystem

/// Waits until a namespace exists, or is gone.
///
/// The root folder's events say when to look again. They are hints: an owner's exit causes no event if no
/// reaper runs, and the user's inotify instances may be used up. So it also looks at every tick, and a look deletes a
/// namespace that has no owner. A namespace that comes causes an event in any case; while inotify hears the root, one
/// look a second is for a root that is itself replaced.
package struct Existence {
    package let space: Space
    package let name: String

    package enum Goal: Sendable {
        case existing
        case gone
    }

    package init(space: Space, name: String) { (self.space, self.name) = (space, name) }

    /// Blocks the thread until the goal is reached.
    ///
    /// - Parameters:
    ///   - goal: What to wait for.
    ///   - deadline: When the wait ends at the latest.
    ///   - interruption: Ends the wait early.
    ///   - attend: Called before each look; what it throws ends the wait.
    /// - Returns: Whether the goal was reached before the deadline.
    /// - Throws: What `attend` throws, `cancelled`, and `SpaceError`.
    package func wait(
        for goal: Goal,
        until deadline: MonotonicInstant,
        interruption: Interruption?,
        attend: () throws -> Void = {}
    ) throws -> Bool {
        // The watch begins before the first look, so that no change falls between the two.
        let watch = PathWatch(space.root)
        while true {
            try attend()
            let count = watch.count
            if try isThere() == (goal == .existing) { return true }
            if deadline.hasPassed { return false }
            if interruption?.isTriggered ?? false { throw SpaceError.cancelled.named("wait for a namespace", name) }
            let rest = watch.isHeard && goal == .existing ? Duration.seconds(1) : Limits.tick
            watch.wait(
                since: count,
                until: min(deadline, .now.advanced(by: rest), interruption?.sleepLimit ?? .distantFuture),
                interruption: interruption
            )
        }
    }

    /// Whether the namespace exists now.
    package func isThere() throws(SpaceError) -> Bool {
        do throws(SpaceError) {
            let namespace = try space.existingNamespace(name, owning: false)
            // It exists, even if it can't be left in time.
            try? namespace.leave()
            return true
        } catch  where error.isOfMissingNamespace {
            return false
        }
    }
}
