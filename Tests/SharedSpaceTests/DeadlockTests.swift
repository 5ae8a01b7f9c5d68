import SpaceInspection
import Testing
import TupleCoding

/// The deadlocks that are found among waits, without processes: the graph is given.
@Suite("Deadlocks among waits")
struct DeadlockTests {
    private func lock(_ pid: Int32, _ name: String, of holders: Int32..., needsAll: Bool = true) -> WaitGraph.Wait {
        WaitGraph.Wait(
            pid: pid,
            subject: .hold(kind: needsAll ? "lock" : "semaphore", name: Name(name)),
            blockers: holders,
            needsAll: needsAll,
            since: nil
        )
    }

    private func circles(
        _ waits: [WaitGraph.Wait],
        busy: Set<Int32> = [],
        parents: [Int32: Int32] = [:]
    ) -> [[Int32]] {
        WaitGraph(waits, busy: busy, parent: { parents[$0] }, runsCommand: { busy.contains($0) })
            .deadlocks.map { $0.steps.map(\.pid) }
    }

    @Test("A circle of any length is one deadlock, and begins with its smallest process")
    func circle() {
        #expect(circles([lock(1, "b", of: 2), lock(2, "a", of: 1)]) == [[1, 2]])
        #expect(circles([lock(9, "a", of: 4), lock(4, "b", of: 7), lock(7, "c", of: 9)]) == [[4, 7, 9]])
        let ring = (1...100).map { lock(Int32($0), "\($0)", of: Int32($0 % 100 + 1)) }
        #expect(circles(ring) == [Array(1...100)])
    }

    @Test("A chain is no deadlock, and who only waits for a deadlock is no part of it")
    func chain() {
        #expect(circles([lock(1, "a", of: 2), lock(2, "b", of: 3)]) == [])
        #expect(circles([lock(1, "a", of: 2), lock(2, "b", of: 3), lock(3, "a", of: 2)]) == [[2, 3]])
    }

    @Test("Two circles are two deadlocks")
    func two() {
        let waits = [lock(1, "a", of: 2), lock(2, "b", of: 1), lock(3, "c", of: 4), lock(4, "d", of: 3)]
        #expect(circles(waits) == [[1, 2], [3, 4]])
    }

    @Test("Who needs one of several holders is stuck only if all of them are")
    func anyOf() {
        let back = lock(2, "lock", of: 1)
        #expect(circles([lock(1, "permits", of: 2, 3, needsAll: false), back]) == [])
        #expect(circles([lock(1, "permits", of: 2, 3, needsAll: true), back]) == [[1, 2]])
        let other = lock(3, "lock", of: 1)
        #expect(circles([lock(1, "permits", of: 2, 3, needsAll: false), back, other]).count == 1)
    }

    @Test("A process whose other wait can end, or that waits for itself, is not stuck")
    func threads() {
        #expect(circles([lock(1, "a", of: 2), lock(1, "c", of: 3), lock(2, "b", of: 1)]) == [])
        #expect(circles([lock(1, "a", of: 1)]) == [])
    }

    @Test("A process waits for the command that it runs")
    func command() {
        // 5 holds and runs 10, which waits for 6; 6 holds and runs the shell 20, whose child 21 waits for 5.
        let waits = [lock(10, "b", of: 6), lock(21, "a", of: 5)]
        let parents: [Int32: Int32] = [10: 5, 21: 20, 20: 6, 5: 1, 6: 1]
        #expect(circles(waits, busy: [5, 6], parents: parents) == [[5, 10, 6, 21]])
        #expect(circles(waits, busy: [5], parents: parents) == [])
        // Parents that go round end the walk.
        #expect(circles(waits, busy: [], parents: [10: 21, 21: 10]) == [])
    }
}
