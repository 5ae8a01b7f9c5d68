import Glibc
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// Requests between processes, any of which may be killed or stopped: each request is answered once, or ends in an
/// error that says why.
///
/// The requests have no time-out, unless a test is about the time-out: on a busy machine a test takes minutes.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct ResponderProcessTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("jobs")
    }

    /// A process with a responder to `f`.
    private func responder(_ key: String, _ steps: String, _ more: String = "") throws -> Agent {
        let agent = try Agent(root, "jobs")
        try agent.run("respond f \(key) \(steps) \(more)")
        return agent
    }

    private func keys() throws -> [String] { try namespace.responders(to: "f").map(\.key) }

    /// Checks that no request is left, and that the namespace is undamaged.
    private func end() throws {
        #expect(try eventually { try namespace.status().requests == [] })
        #expect(try namespace.verify() == [])
    }

    @Test func theStackGoesThroughProcesses() throws {
        let base = try responder("base", "reply", "base")
        let below = try responder("below", "next")
        let top = try responder("top", "next")
        let asker = try Agent(root, "jobs")
        #expect(try asker.run("request f - [1]") == "top(below(base:[1]))")
        #expect(try asker.run("request-blocking f - 2") == "top(below(base:2))")
        #expect(try keys() == ["top", "below", "base"])
        #expect(try namespace.responders(to: "f").map(\.pid) == [top.pid, below.pid, base.pid])
        // Another process replaces the responder, which moves it to the top.
        let newer = try responder("below", "next")
        #expect(try eventually { try keys() == ["below", "top", "base"] })
        #expect(try asker.run("request f - 3") == "below(top(base:3))")
        // A process may remove another's responder.
        #expect(try namespace.removeResponder(to: "f", key: "top"))
        #expect(try asker.run("request f - 4") == "below(base:4)")
        try newer.exit()
        #expect(try asker.run("request f - 5") == "base:5")
        try base.run("unrespond")
        #expect(try asker.ask("request f - 6").hasPrefix("error noResponder"))
        #expect(try namespace.responders() == [])
        try end()
    }

    /// A watcher in another process is told of responders that come, are replaced, leave, and die.
    @Test func aWatcherIsToldOfRedefinition() throws {
        let changes = try namespace.changes(.responders(to: "f"))
        func told(_ count: Int) throws -> [String] {
            var told: [String] = []
            while told.count < count, let change = try changes.nextBlocking(timeout: .seconds(60), interruption: nil) {
                told.append("\(change.old?.json ?? "-") \(change.new?.json ?? "-")")
            }
            return told
        }
        let first = try responder("a", "reply")
        let second = try responder("b", "reply")
        let third = try responder("a", "reply")
        #expect(try told(3) == ["- \"a\"", "- \"b\"", "\"a\" \"a\""])
        // No process says that a killed one has gone: a living one finds that out.
        try second.kill()
        #expect(try told(1) == ["\"b\" -"])
        try third.run("unrespond")
        #expect(try told(1) == ["\"a\" -"])
        try first.exit()
        try end()
    }

    @Test func aDeadProcessLeavesTheStack() throws {
        let below = try responder("below", "reply")
        let top = try responder("top", "reply")
        let asker = try Agent(root, "jobs")
        #expect(try keys() == ["top", "below"])
        try top.kill()
        #expect(try keys() == ["below"])
        #expect(try asker.run("request f - 1") == "below:1")
        try below.kill()
        #expect(try keys() == [])
        #expect(try asker.ask("request f - 1").hasPrefix("error noResponder"))
        try end()
    }

    @Test(arguments: ["request", "request-blocking"])
    func whenTheOneThatAnswersDiesTheNextIsAsked(_ command: String) throws {
        let below = try responder("below", "say")
        let top = try responder("top", "say,hold")
        let asker = try Agent(root, "jobs")
        try asker.send("\(command) f - [1]")
        #expect(try top.line() == "at top")
        try top.kill()
        #expect(try below.line() == "at below")
        #expect(try asker.line() == "ok below:[1]")
        #expect(try keys() == ["below"])
        // The asker was served because it heard of the death, and not by a tick.
        try end()
    }

    @Test func whenTheLastOneDiesNobodyAnswers() throws {
        let top = try responder("top", "say,hold")
        let asker = try Agent(root, "jobs")
        try asker.send("request f - 1")
        #expect(try top.line() == "at top")
        try top.kill()
        #expect(try asker.line()?.hasPrefix("error noResponder") == true)
        try end()
    }

    /// The requests that wait for a responder that dies all go to the next one, in order.
    @Test func whatWasNotBegunGoesToTheNextToo() throws {
        let below = try responder("below", "reply")
        let top = try responder("top", "say,hold")
        let askers = try (0..<4).map { _ in try Agent(root, "jobs") }
        for (n, asker) in askers.enumerated() { try asker.send("request f - \(n)") }
        #expect(try top.line() == "at top")
        #expect(try eventually { try namespace.status().requests.count == 4 })
        try top.kill()
        for (n, asker) in askers.enumerated() { #expect(try asker.line() == "ok below:\(n)") }
        try end()
        try below.exit()
    }

    // MARK: In the middle of a chain

    /// If the middle responder dies while it answers, before it has asked below, the top's request goes to the bottom.
    @Test func theMiddleOfAChainDies() throws {
        let base = try responder("base", "reply", "base")
        let middle = try responder("middle", "say,hold,next")
        let top = try responder("top", "next")
        let asker = try Agent(root, "jobs")
        try asker.send("request f - 1")
        #expect(try middle.line() == "at middle")
        try middle.kill()
        #expect(try asker.line() == "ok top(base:1)")
        try end()
        withExtendedLifetime((base, top)) {}
    }

    /// If the top dies while it waits for the responder below, that one is not asked again, and its result is the
    /// reply.
    @Test(arguments: [false, true])
    func theTopOfAChainDies(_ diesBelowToo: Bool) throws {
        let base = try responder("base", "say,hold", "base")
        let middle = try responder("middle", "say,next")
        let top = try responder("top", "say,next")
        let asker = try Agent(root, "jobs")
        try asker.send("request f - 1")
        #expect(try top.line() == "at top")
        #expect(try middle.line() == "at middle")
        #expect(try base.line() == "at base")
        try top.kill()
        // The top's request is the middle's now, which goes on as if the asker had asked it.
        #expect(try eventually { try namespace.status().requests.count == 2 })
        if diesBelowToo {
            try middle.kill()
            #expect(try eventually { try namespace.status().requests.count == 1 })
        }
        try base.run("let-go")
        #expect(try asker.line() == (diesBelowToo ? "ok base:1" : "ok middle(base:1)"))
        // No responder was asked twice: the next line of the base is its answer to this.
        #expect(try base.ask("let-go") == "ok")
        try end()
    }

    /// If the top dies while its request below waits for its turn, that request waits on as the asker's own, and is
    /// begun once.
    @Test func theTopDiesBeforeTheOneBelowBegins() async throws {
        let begun = Mutex<[Int]>([])
        let isOpen = Mutex<Set<Int>>([])
        let base = try namespace.respond(to: "f", base: true, concurrency: 2) { (number: Int, _) -> String in
            begun.withLock { $0.append(number) }
            while !isOpen.withLock({ $0.contains(number) }) { try await Task.sleep(for: .milliseconds(1)) }
            return "base:\(number)"
        }
        let probe = try namespace.respond(to: "g") { (number: Int, _) -> Int in number }
        let askers = try (0..<4).map { _ in try Agent(root, "jobs") }
        for asker in askers[..<2] { try asker.send("request f - 0") }
        #expect(try await eventually { begun.withLock { $0 } == [0, 0] })
        let top = try responder("top", "next")
        try askers[2].send("request f - 1")
        #expect(try await eventually { try namespace.status().requests.count == 4 })
        // An answer to this request shows that all earlier requests were looked at.
        #expect(try await namespace.request("g", 1) == 1)
        try top.kill()
        #expect(try await eventually { try namespace.status().requests.count == 3 })
        #expect(try await namespace.request("g", 2) == 2)
        isOpen.withLock { _ = $0.insert(0) }
        // The base needs the tasks' threads for its replies, so none of them waits here.
        for asker in askers[..<2] { #expect(try await onThread { try asker.line() } == "ok base:0") }
        // This request comes after all that wait.
        try askers[3].send("request f - 2")
        #expect(try await eventually { begun.withLock { $0.contains(2) } })
        isOpen.withLock { $0 = [1, 2] }
        for (asker, number) in zip(askers[2...], 1...) {
            #expect(try await onThread { try asker.line() } == "ok base:\(number)")
        }
        #expect(begun.withLock { $0.sorted() } == [0, 0, 1, 2])
        try end()
        withExtendedLifetime((base, probe)) {}
    }

    /// A failure that the asking process sees only after its time has passed is told as a time-out: a handler may have
    /// failed because of it.
    @Test func aFailureAfterTheTimeIsATimeOut() async throws {
        let begun = Mutex(false)
        let mayFail = Mutex(false)
        let token = try namespace.respond(to: "f") { (_: Int) -> String in
            begun.withLock { $0 = true }
            while !mayFail.withLock({ $0 }) { await Task.yield() }
            throw TestFailure("too late")
        }
        let asker = try Agent(root, "jobs")
        // The asker stops itself as soon as its request is there, so it can't take the request back.
        try asker.run("arm stop woken")
        try asker.send("request f 300 1")
        try asker.waitUntilStopped()
        let limit = ContinuousClock.now + .milliseconds(300)
        #expect(try await eventually { begun.withLock { $0 } })
        #expect(try await eventually { ContinuousClock.now > limit })
        mayFail.withLock { $0 = true }
        #expect(try await eventually { try namespace.status().responders.map(\.requests) == [0] })
        #expect(try namespace.status().requests.count == 1)
        asker.resume()
        let answer = try await onThread { try asker.line() }
        #expect(answer?.hasPrefix("error timedOut") == true && answer?.contains("too late") == true, "\(answer ?? "-")")
        token.cancel()
        try end()
    }

    /// If the top has its reply from below and dies before it gives its own, a responder that was reached is not asked
    /// again.
    @Test func theTopDiesAfterNextReturned() throws {
        let base = try responder("base", "reply", "base")
        let middle = try responder("middle", "say")
        let top = try responder("top", "next,say,hold")
        let asker = try Agent(root, "jobs")
        try asker.send("request f - 1")
        #expect(try middle.line() == "at middle")
        #expect(try top.line() == "at top")
        try top.kill()
        #expect(try asker.line() == "ok base:1")
        #expect(try middle.ask("let-go") == "ok")
        try end()
        withExtendedLifetime(base) {}
    }

    /// A request that waits for a responder reaches none again that it has reached before, neither from the top nor by
    /// a newcomer's `next`.
    @Test(arguments: [false, true])
    func whoWaitsAsksNobodyTwice(_ asksBelow: Bool) throws {
        let below = try responder("below", "say")
        let top = try responder("top", "next,say,hold")
        let asker = try Agent(root, "jobs")
        try asker.send("request-waiting f 1")
        #expect(try asker.line() == "waiting")
        #expect(try below.line() == "at below")
        #expect(try top.line() == "at top")
        try top.kill()
        // No other responder is there, so the asker waits for one.
        #expect(try eventually { try namespace.status().requests == [] })
        let newcomer = try responder("newcomer", asksBelow ? "next" : "reply")
        if asksBelow {
            let answer = try asker.line()
            #expect(answer?.contains("nobody below answers it") == true, "\(answer ?? "nothing")")
        } else {
            #expect(try asker.line() == "ok newcomer:1")
        }
        // The next line of the responder is its answer to this.
        #expect(try below.ask("let-go") == "ok")
        try end()
        withExtendedLifetime(newcomer) {}
    }

    // MARK: Askers

    /// If an asker is killed, the handler of its request is cancelled, the one below too, and the responders go on
    /// answering.
    @Test func aRequestGoesWithItsAsker() throws {
        let base = try responder("base", "say,hold", "base")
        let top = try responder("top", "next")
        let asker = try Agent(root, "jobs")
        try asker.send("request f - 1")
        #expect(try base.line() == "at base")
        try asker.kill()
        #expect(try base.line() == "cancelled base")
        #expect(try eventually { try namespace.status().requests == [] })
        let other = try Agent(root, "jobs")
        try base.run("let-go")
        try other.send("request f - 2")
        #expect(try base.line() == "at base")
        #expect(try other.line() == "ok top(base:2)")
        try end()
        withExtendedLifetime(top) {}
    }

    @Test func aTimeOutNamesAStoppedResponder() throws {
        let below = try responder("below", "reply")
        let top = try responder("top", "reply")
        let asker = try Agent(root, "jobs")
        try top.stop()
        for command in ["request", "request-blocking"] {
            let answer = try asker.ask("\(command) f 100 1")
            #expect(answer.hasPrefix("error timedOut \(top.pid) "), "\(answer)")
            #expect(answer.contains("is stopped"), "\(answer)")
        }
        #expect(try namespace.status().requests == [])
        top.resume()
        #expect(try asker.run("request f - 2") == "top:2")
        try end()
        withExtendedLifetime(below) {}
    }

    /// A stopped process has not begun a request that was made with `next`: it goes to the one below when the stopped one
    /// is taken off the stack.
    @Test func whatAStoppedOneHasNotBegunGoesOnWhenItIsRemoved() throws {
        let below = try responder("below", "reply")
        let stopped = try responder("stopped", "reply")
        let top = try responder("top", "say,next")
        let asker = try Agent(root, "jobs")
        try stopped.stop()
        try asker.send("request f - 1")
        #expect(try top.line() == "at top")
        #expect(try eventually { try namespace.status().requests.count == 2 })
        #expect(try namespace.removeResponder(to: "f", key: "stopped"))
        #expect(try asker.line() == "ok top(below:1)")
        stopped.resume()
        #expect(try asker.run("request f - 2") == "top(below:2)")
        try end()
        withExtendedLifetime(below) {}
    }

    @Test func aTimeOutNamesASlowResponder() throws {
        let top = try responder("top", "say,hold")
        let asker = try Agent(root, "jobs")
        // Long enough for the responder to begin on a busy machine.
        try asker.send("request f 3000 1")
        #expect(try top.line() == "at top")
        let answer = try asker.line()
        #expect(answer?.hasPrefix("error timedOut \(top.pid) ") == true && answer?.contains("not answered") == true)
        #expect(try top.line() == "cancelled top")
        try end()
    }

    @Test func anErrorTravels() throws {
        let broken = try responder("broken", "throw")
        let asker = try Agent(root, "jobs")
        let answer = try asker.ask("request f - 1")
        #expect(
            answer.hasPrefix("error responderFailed \(broken.pid) ") && answer.contains("broken is broken"),
            "\(answer)"
        )
        try end()
    }

    // MARK: Coming and going

    @Test func whoWaitsForAResponderIsServed() throws {
        let askers = try (0..<2).map { _ in try Agent(root, "jobs") }
        for (n, asker) in askers.enumerated() {
            try asker.send("request-waiting f \(n)")
            #expect(try asker.line() == "waiting")
        }
        #expect(try eventually { try namespace.status().waiters.count == 2 })
        // A responder that dies with a request leaves the askers waiting for the next one. It may be asked before it
        // has answered that it responds.
        let first = try Agent(root, "jobs")
        try first.send("respond f first say,hold")
        let lines = [try first.line(), try first.line()]
        #expect(Set(lines) == ["ok", "at first"])
        #expect(try eventually { try namespace.status().requests.count == 2 })
        try first.kill()
        #expect(try eventually { try namespace.status().requests == [] })
        let second = try responder("second", "reply")
        for (n, asker) in askers.enumerated() { #expect(try asker.line() == "ok second:\(n)") }
        try end()
        withExtendedLifetime(second) {}
    }

    @Test func oneShotAnswersOnce() throws {
        let below = try responder("below", "reply")
        let once = try responder("once", "once,say,hold")
        let asker = try Agent(root, "jobs")
        try asker.send("request f - 1")
        #expect(try once.line() == "at once")
        #expect(try keys() == ["below"])
        let other = try Agent(root, "jobs")
        #expect(try other.run("request f - 2") == "below:2")
        try once.run("let-go")
        #expect(try asker.line() == "ok once:1")
        #expect(try asker.run("request f - 3") == "below:3")
        #expect(try eventually { try namespace.status().responders.count == 1 })
        try end()
        withExtendedLifetime(below) {}
    }

    /// Responders are killed again and again while others ask: every request is answered, and by its own argument.
    @Test func respondersDieWhileOthersAsk() throws {
        let base = try responder("base", "reply", "base")
        let askers = try (0..<3).map { _ in try Agent(root, "jobs") }
        for asker in askers { try asker.send("request-loop f 200") }
        for _ in 0..<10 {
            let top = try responder("top", "reply")
            let also = try responder("also", "reply")
            try top.kill()
            try also.kill()
        }
        for asker in askers { #expect(try asker.line() == "ok 0") }
        try end()
        withExtendedLifetime(base) {}
    }
}
