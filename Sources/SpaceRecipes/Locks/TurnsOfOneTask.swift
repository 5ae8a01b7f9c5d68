import Glibc
import SpaceSystem

// Waits of a task for its own holds (`OwnHolds`).

extension Snapshot {
    /// The hold among `own` because of which a new place is never served; `nil` if the place may be served once other
    /// holds are released.
    ///
    /// Holders of other tasks release their holds sooner or later. So do waiters for which the task's holds leave room,
    /// and waiters with a time-out give up. A waiter for which they leave no room stays, and so do all waiters after
    /// it: a reader that asks again behind a writer waits for itself.
    func isHeldUp(_ row: PlaceRow, _ keys: PlaceKeys, by own: Set<UInt64>) throws(SpaceError) -> PlaceRow? {
        let permits = try row.kind == .semaphore ? self.permits(setFor: keys.name) : nil
        var front = TurnFront()
        var first: PlaceRow?
        var isBehindOne = false
        try forEachPlace(keys) { other throws(SpaceError) in
            if own.contains(other.ticket) {
                _ = front.admits(other, permits: permits)
                first = first ?? other
            } else if first != nil, !other.isHolding, other.ends == 0 {
                let wish = TurnWish(other, permits: permits)
                isBehindOne = !wish.isBeyondAll && !front.wouldAdmit(wish)
            }
            return !isBehindOne
        }
        return isBehindOne || !front.wouldAdmit(TurnWish(row, permits: permits)) ? first : nil
    }
}

extension SpaceError {
    /// The error for a wait that only the task that waits could end.
    static func wouldDeadlock(_ request: PlaceRequest, heldAs ticket: UInt64) -> SpaceError {
        let who =
            switch RunningTask.current {
            case .task: "this task"
            case .thread(let thread): "this thread, \(thread),"
            }
        return SpaceError(
            .wouldDeadlock,
            holder: getpid(),
            reason: "\(request.kind.phrase), \(request.name.quotedForPeople), is held by \(who) of process "
                + "\(getpid()) itself (fencing number \(ticket)), which would wait for itself",
            advice: "release that hold first, or do the work under it; if another task is to release it, wait with a "
                + "time-out"
        )
    }
}
