import SpaceRecipes
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
        parents: [Int32: Int32] = [:],
        idle: Set<Int32> = []
    ) -> [[Int32]] {
        graph(waits, busy: busy, parents: parents, idle: idle).deadlocks.map { $0.steps.map(\.pid) }
    }

    /// The graph of waits; `idle` are the processes that only wait for a child.
    private func graph(
        _ waits: [WaitGraph.Wait],
        busy: Set<Int32>,
        parents: [Int32: Int32],
        idle: Set<Int32>
    ) -> WaitGraph {
        let view = ProcessView(
            parent: { parents[$0] },
            children: { parent in parents.filter { $0.value == parent }.map(\.key).sorted() },
            runsCommand: { busy.contains($0) },
            waitsForChild: { idle.contains($0) }
        )
        return WaitGraph(waits, busy: busy, processes: view)
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
        #expect(circles(waits, busy: [5, 6], parents: parents, idle: [20]) == [[5, 10, 6, 21]])
        #expect(circles(waits, busy: [5], parents: parents, idle: [20]) == [])
        // Parents that go round end the walk.
        #expect(circles(waits, busy: [], parents: [10: 21, 21: 10]) == [])
    }

    @Test("A command of which a part does something else than to wait makes a circle doubtful")
    func background() {
        let waits = [lock(10, "b", of: 6), lock(21, "a", of: 5)]
        let parents: [Int32: Int32] = [10: 5, 21: 20, 20: 6, 5: 1, 6: 1]
        func doubts(_ parents: [Int32: Int32], idle: Set<Int32>) -> [Deadlock.Doubt?] {
            let graph = graph(waits, busy: [5, 6], parents: parents, idle: idle)
            return graph.deadlocks.map(\.doubt) + graph.doubtful.map(\.doubt)
        }
        #expect(doubts(parents, idle: [20]) == [nil])
        // The shell itself runs on, or has another child that does.
        #expect(doubts(parents, idle: []) == [.command(6)])
        #expect(doubts(parents.merging([22: 20]) { $1 }, idle: [20]) == [.command(6)])
        #expect(doubts(parents.merging([22: 20]) { $1 }, idle: [20, 22]) == [.command(6)])
        // A child of the other child, for which that one waits, and which is no waiter.
        #expect(doubts(parents.merging([22: 20, 23: 22]) { $1 }, idle: [20, 22]) == [.command(6)])
    }

    @Test("A circle with a wait that has a time-out is no deadlock, and tells when it ends")
    func timeOut() {
        var first = lock(1, "b", of: 2)
        first.ends = 5000
        let two = [first, lock(2, "a", of: 1)]
        let graph = graph(two, busy: [], parents: [:], idle: [])
        #expect(graph.deadlocks == [] && graph.doubtful.map(\.doubt) == [.ends(5000)])
        // A circle beside it that does not end is named all the same.
        let other = [lock(3, "c", of: 4), lock(4, "d", of: 3)]
        let both = self.graph(two + other, busy: [], parents: [:], idle: [])
        #expect(both.deadlocks.map { $0.steps.map(\.pid) } == [[3, 4]] && both.doubtful.count == 1)
        // A process that hangs on to a deadlock, and whose own wait ends, is no part of any circle.
        var third = lock(5, "c", of: 4)
        third.ends = 1
        #expect(self.graph(other + [third], busy: [], parents: [:], idle: []).doubtful == [])
    }

    @Test("A circle through two namespaces is one deadlock, and names them")
    func namespaces() {
        var first = lock(1, "b", of: 2)
        first.namespace = Name("n2")
        var second = lock(2, "a", of: 1)
        second.namespace = Name("n1")
        let deadlocks = graph([first, second], busy: [], parents: [:], idle: []).deadlocks
        let text = #"1 waits for the lock "b" in "n2" of 2; 2 waits for the lock "a" in "n1" of 1"#
        #expect(deadlocks.map { $0.text(naming: true) } == [text])
        #expect(deadlocks.map { $0.text() } == [#"1 waits for the lock "b" of 2; 2 waits for the lock "a" of 1"#])
    }

    @Test("A circle is told once all of its waits have lasted for a second, and not again")
    func tellable() {
        func told(_ ages: [Int64], marks: [Bool] = [false, false]) -> Int {
            let waits = (0..<2).map { index -> WaitGraph.Wait in
                let (own, other) = (Int32(index + 1), Int32(2 - index))
                let subject = WaitGraph.Subject.hold(kind: "lock", name: Name("\(index)"))
                var wait = WaitGraph.Wait(
                    pid: own,
                    subject: subject,
                    blockers: [other],
                    needsAll: true,
                    since: 10_000 - ages[index]
                )
                wait.place = WaitPlace(name: Name("\(index)"), ticket: UInt64(own), isTold: marks[index])
                return wait
            }
            let deadlocks = graph(waits, busy: [], parents: [:], idle: []).deadlocks
            #expect(deadlocks.count == 1)
            return DeadlockWatch.tellable(deadlocks, now: 10_000).count
        }
        #expect(told([5000, 999]) == 0 && told([5000, 1000]) == 1)
        // The clock was set back.
        #expect(told([-5000, -1]) == 1)
        #expect(told([5000, 5000], marks: [true, true]) == 0)
        #expect(told([5000, 5000], marks: [true, false]) == 1)
    }
}
