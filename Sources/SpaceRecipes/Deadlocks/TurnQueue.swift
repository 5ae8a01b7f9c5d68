/// The places of a name whose processes live, both holding and waiting ones, in order.
package final class TurnQueue: Sendable {
    /// A place of a process.
    package struct Turn: Hashable, Sendable {
        package let pid: Int32
        package let isHolding: Bool
        package let wish: TurnWish

        package init(_ pid: Int32, isHolding: Bool, _ wish: TurnWish) {
            self.pid = pid
            self.isHolding = isHolding
            self.wish = wish
        }
    }

    package let turns: [Turn]

    package init(_ turns: [Turn]) { self.turns = turns }

    /// The processes that keep a place from being served: the holders that leave it no room, or, if they leave it room,
    /// the waiters before it.
    ///
    /// Complexity: O(n) for n places.
    func blockers(of index: Int) -> [Int32] {
        let wish = turns[index].wish
        let holders = turns[..<index].filter(\.isHolding)
        var front = TurnFront()
        for holder in holders { _ = front.admits(holder.wish) }
        if front.wouldAdmit(wish) { return turns[..<index].filter { !$0.isHolding }.map(\.pid) }
        return holders.filter { !(wish.kind == .lock && wish.isShared && $0.wish.isShared) }.map(\.pid)
    }

    /// One of the stuck processes for which a place waits.
    ///
    /// - Parameters:
    ///   - index: The place. Its own process's other places don't count.
    ///   - isStuck: Whether a process goes on only if others do.
    /// - Returns: A holder that leaves it no room, or else the first waiter before it; `nil` if it is served without them.
    func blocker(of index: Int, isStuck: (Int32) -> Bool) -> (pid: Int32, isHolding: Bool)? {
        let own = turns[index]
        let stuck = turns[..<index].filter { $0.pid != own.pid && isStuck($0.pid) }
        var front = TurnFront()
        for holder in stuck where holder.isHolding {
            _ = front.admits(holder.wish)
            if !front.wouldAdmit(own.wish) { return (holder.pid, true) }
        }
        return stuck.first { !$0.isHolding }.map { ($0.pid, false) }
    }

    /// Removes the processes from `stuck` whose turn comes even if no process in it ever releases a hold or gives up.
    ///
    /// A place that can be served no longer counts for the places after it, so one walk frees all that follow each
    /// other. A wait for what the process itself holds can end, because another of its threads may release the hold.
    ///
    /// - Parameters:
    ///   - stuck: The processes that are thought to be stuck.
    ///   - lasts: Whether only its turn ends the wait of a place.
    /// - Complexity: O(n) for n places of different processes.
    func free(_ stuck: inout Set<Int32>, lasts: (Int) -> Bool) {
        var front = TurnFront()
        var before: Set<Int32> = []
        for (index, turn) in turns.enumerated() where stuck.contains(turn.pid) {
            if !turn.isHolding {
                let isServed =
                    before.contains(turn.pid)
                    ? blocker(of: index, isStuck: stuck.contains) == nil : front.wouldAdmit(turn.wish)
                if isServed || !lasts(index) {
                    stuck.remove(turn.pid)
                    continue
                }
            }
            _ = front.admits(turn.wish)
            before.insert(turn.pid)
        }
    }
}

/// A place in a queue of turns.
package struct TurnPlace: Hashable, Sendable {
    package let queue: TurnQueue
    package let index: Int

    package static func == (a: TurnPlace, b: TurnPlace) -> Bool { a.queue === b.queue && a.index == b.index }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(queue))
        hasher.combine(index)
    }
}
