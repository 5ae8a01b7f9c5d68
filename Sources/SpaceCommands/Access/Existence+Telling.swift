import SpaceInspection
import SpaceSystem

extension Existence {
    /// Waits until the goal is reached; if there is no limit, standard error says what for.
    ///
    /// - Returns: Whether the goal was reached before the deadline.
    /// - Throws: `Terminated` on a signal, and `SpaceError`.
    func wait(for goal: Goal, until deadline: MonotonicInstant) throws -> Bool {
        let notice =
            deadline == .distantFuture && WaitNotice.isWanted
            ? MonotonicInstant.now.advanced(by: WaitNotice.silence) : .distantFuture
        return try wait(for: goal, until: deadline, interruption: Signals.interruption) {
            try Signals.check()
            if notice.hasPassed { WaitNotice.give(text(for: goal)) }
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
}
