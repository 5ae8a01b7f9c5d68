import SharedSpace
import SpaceInspection
import SpaceSystem

/// Waits until a namespace exists, or is gone.
///
/// The root folder's events say when to look again. They are hints: an owner's exit causes no event if no
/// reaper runs, and the user's inotify instances may be used up. So it also looks at every tick, and a look deletes a
/// namespace that has no owner. A namespace that comes causes an event in any case; while inotify hears the root, one
/// look a second is for a root that is itself replaced.
struct Existence {
    let space: Space
    let name: String

    enum Goal {
        case existing
        case gone
    }

    /// - Returns: Whether the goal was reached before the deadline.
    /// - Throws: `Terminated` on a signal, and `SpaceError`.
    func wait(for goal: Goal, until deadline: MonotonicInstant) throws -> Bool {
        // The watch begins before the first look, so that no change falls between the two.
        let watch = PathWatch(space.root)
        let notice =
            deadline == .distantFuture && WaitNotice.isWanted
            ? MonotonicInstant.now.advanced(by: WaitNotice.silence) : .distantFuture
        while true {
            try Signals.check()
            let count = watch.count
            if try isThere() == (goal == .existing) { return true }
            if deadline.hasPassed { return false }
            if notice.hasPassed { WaitNotice.give(text(for: goal)) }
            let rest = watch.isHeard && goal == .existing ? Duration.seconds(1) : Limits.tick
            watch.wait(
                since: count,
                until: min(deadline, .now.advanced(by: rest)),
                interruption: Signals.interruption
            )
        }
    }

    /// What is waited for, for people.
    private func text(for goal: Goal) -> String {
        let name = name.quotedForPeople
        switch goal {
        case .existing: return "namespace \(name): there is none"
        case .gone:
            let owner = try? space.existingNamespace(self.name, owning: false).status().owners.first {
                $0.isAlive && $0.kind != .visitor
            }
            return "the end of namespace \(name)" + (owner.map { ", which process \($0.pid) owns" } ?? "")
        }
    }

    /// Whether the namespace exists now.
    func isThere() throws(SpaceError) -> Bool {
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
