import Testing
import TupleCoding

@testable import SpaceRecipes

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
            command: { busy.contains($0) ? "command-\($0)" : nil },
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

    /// The waits of a queue; its places are a process, whether it holds, and what it wants.
    private func queue(_ name: String, _ places: (pid: Int32, isHolding: Bool, wish: TurnWish)...) -> [WaitGraph.Wait] {
        let queue = TurnQueue(places.map { .init($0.pid, isHolding: $0.isHolding, $0.wish) })
        return places.indices.filter { !places[$0].isHolding }.map { index in
            var wait = WaitGraph.Wait(
                pid: places[index].pid,
                subject: .hold(kind: places[index].wish.kind.word, name: Name(name)),
                blockers: places[..<index].map(\.pid),
                needsAll: true,
                since: nil
            )
            wait.turn = TurnPlace(queue: queue, index: index)
            return wait
        }
    }

    @Test("Who waits only behind another waiter is stuck as long as that one waits")
    func behind() {
        let (shared, alone) = (TurnWish(kind: .lock, isShared: true), TurnWish(kind: .lock))
        // 1 shares a and waits for b; 2 has b and waits to share a, behind 3, who wants a alone.
        var waits = queue("a", (1, true, shared), (3, false, alone), (2, false, shared))
        waits += queue("b", (2, true, alone), (1, false, alone))
        var graph = graph(waits, busy: [], parents: [:], idle: [])
        let text =
            #"1 waits for the lock "b" of 2; 2 waits for the lock "a" behind 3; 3 waits for the lock "a" of 1"#
        #expect(graph.deadlocks.map { $0.text() } == [text])
        // If 3 gives up in time, 2 goes on.
        waits[0].ends = 5000
        graph = self.graph(waits, busy: [], parents: [:], idle: [])
        #expect(graph.deadlocks == [] && graph.doubtful.map(\.doubt) == [.ends(5000)])
        // If 2 wants a alone, it doesn't, whatever 3 does.
        waits = queue("a", (1, true, shared), (3, false, alone), (2, false, alone))
        waits[0].ends = 5000
        waits += queue("b", (2, true, alone), (1, false, alone))
        #expect(circles(waits) == [[1, 2]])
    }

    @Test("Who needs several permits is stuck if those that are left don't do")
    func permits() {
        func permits(_ weight: Int) -> TurnWish { TurnWish(kind: .semaphore, weight: weight, permits: 3) }
        let back = queue("b", (9, true, TurnWish(kind: .lock)), (1, false, TurnWish(kind: .lock)))
        // 1 has a permit and waits for 9; 2 has another one, and goes on.
        func waits(_ weight: Int) -> [WaitGraph.Wait] {
            queue("a", (1, true, permits(1)), (2, true, permits(2)), (9, false, permits(weight))) + back
        }
        #expect(circles(waits(2)) == [])
        #expect(circles(waits(3)) == [[1, 9]])
        // Behind one with a time-out that wants all of them.
        var three = queue("a", (1, true, permits(1)), (5, false, permits(3)), (9, false, permits(1))) + back
        #expect(circles(three) == [[1, 9, 5]])
        three[0].ends = 5000
        let graph = graph(three, busy: [], parents: [:], idle: [])
        #expect(graph.deadlocks == [] && graph.doubtful.map(\.doubt) == [.ends(5000)])
    }

    @Test("A long queue for a holder that goes on is no deadlock")
    func longQueue() {
        let wish = TurnWish(kind: .lock)
        let turns = (1...2000).map { TurnQueue.Turn(Int32($0), isHolding: $0 == 1, wish) }
        let queue = TurnQueue(turns)
        let waits = (1..<2000).map { index in
            var wait = lock(turns[index].pid, "a", of: 1)
            wait.turn = TurnPlace(queue: queue, index: index)
            return wait
        }
        #expect(circles(waits) == [])
        #expect(circles(waits + [lock(1, "b", of: 2)]) == [[1, 2]])
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
        let deadlock = graph(waits, busy: [5, 6], parents: parents, idle: [20]).deadlocks.first
        #expect(deadlock?.steps.map(\.subject.name.text) == ["command-5", "b", "command-6", "a"])
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

@Suite("Limits of commands")
struct CommandLimitTests {
    private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    @Test(
        "A command line that ends its command in time",
        arguments: [
            "5 x", "0.5 x", "5s x", "1d x", "-s KILL 5 x", "-sINT 5 x", "--signal=SIGHUP 5 x", "--signal quit 5 x",
            "-s 9 5 x", "-s CONT -k 1 5 x", "--kill-after=1m -s CONT 5 x", "--foreground -v 5 x", "-- 5 x",
        ]
    )
    func timeouts(_ text: String) { #expect(CommandLimit.isSet(byTimeout: words(text))) }

    @Test(
        "One that does not",
        arguments: ["", "5", "0 x", "0.0s x", "-s CONT 5 x", "-s STOP 5 x", "-s CONT -k 0 5 x", "--version", "x 5"]
    )
    func noTimeouts(_ text: String) { #expect(!CommandLimit.isSet(byTimeout: words(text))) }

    @Test(
        "The commands of the shell helper",
        arguments: [
            ("queue n q take --ttr 5s", true), ("queue n q take --ttr=5s", true), ("eval --wait 5s n", true),
            ("eval n --wait=0.5", true), ("eval n", false), ("eval --wait n", false), ("lock n a --wait 5s", false),
            ("claim n [] --deadline 5s", false), ("lock n eval --wait 5s", false),
            ("semaphore queue a --ttr 5s", false),
            ("--root eval lock n a --wait 5s", false), ("--root=/r --timeout 1s eval n --wait 5s", true),
        ]
    )
    func runners(_ text: String, _ expected: Bool) {
        #expect(CommandLimit.isSet(byRunner: words(text)) == expected)
    }
}
