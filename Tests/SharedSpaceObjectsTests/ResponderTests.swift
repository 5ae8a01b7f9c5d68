import Glibc
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// Requests and responders within one process; the process tests cover several.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct ResponderTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    private struct Size: Codable, Equatable { var width: Int }

    /// Registers a responder that answers with its key, and with the answer from below in brackets.
    private func stacked(_ key: String, base: Bool = false) throws -> ResponderToken {
        try jobs.respond(to: "f", key: key, base: base) { (n: Int, next) -> String in
            try next.exists ? "\(key)(\(try await next()))" : "\(key)\(n)"
        }
    }

    private func end() async throws {
        #expect(try await eventually { try jobs.status().responders == [] })
        #expect(try jobs.verify() == [])
    }

    // MARK: The stack

    @Test func theNewestAnswersAndNextIsBelow() async throws {
        let a = try stacked("a")
        #expect(try await jobs.request("f", 1) == "a1")
        let b = try stacked("b")
        let base = try stacked("base", base: true)
        let olderBase = try stacked("base 2", base: true)
        #expect(try await jobs.request("f", 1) == "b(a(base 2(base1)))")
        #expect(try jobs.responders(to: "f").map(\.key) == ["b", "a", "base 2", "base"])
        #expect(try jobs.responders().map(\.isBase) == [false, false, true, true])
        // A replaced responder comes to the top, and its old token has ended.
        let newer = try stacked("a")
        #expect(try await jobs.request("f", 1) == "a(b(base 2(base1)))")
        #expect(try await eventually { !a.isActive } && newer.isActive)
        olderBase.cancel()
        b.cancel()
        b.cancel()
        #expect(try await jobs.request("f", 1) == "a(base1)")
        #expect(try jobs.hasResponder(to: "f") && jobs.hasResponder(to: "f", key: "a"))
        #expect(try !jobs.hasResponder(to: "f", key: "b") && !jobs.hasResponder(to: "g"))
        #expect(try jobs.removeResponder(to: "f", key: "a"))
        #expect(try !jobs.removeResponder(to: "f", key: "a"))
        #expect(try await jobs.request("f", 1) == "base1")
        base.cancel()
        try await end()
    }

    @Test func stopRespondingEndsTheRespondersOfItsHandleAlone() async throws {
        let (kept, other) = (try stacked("kept"), try jobs.nonOwningHandle())
        let tokens = try ["x", "y"].map { (key: String) in
            try other.respond(to: "f", key: key) { (n: Int, _) -> String in "\(key)\(n)" }
        }
        #expect(try await jobs.request("f", 1) == "y1")
        other.stopResponding()
        #expect(try await eventually { tokens.allSatisfy { !$0.isActive } })
        #expect(try await jobs.request("f", 1) == "kept1")
        kept.cancel()
        try await end()
    }

    @Test func withoutAKeyItGetsAUUID() async throws {
        let first = try jobs.respond(to: "f") { (n: Int, _) -> Int in n }
        let second = try jobs.respond(to: "f") { (n: Int, _) -> Int in n }
        #expect(TupleUUID(first.key) != nil && first.key != second.key && first.id != second.id)
        #expect(try jobs.responders(to: "f").count == 2)
        first.cancel()
        second.cancel()
        try await end()
    }

    @Test func aTokenThatGoesEndsItsResponder() async throws {
        var token: ResponderToken? = try stacked("a")
        let newer = try stacked("b")
        // Assigning a new token over an old one ends the old responder alone.
        token = newer
        #expect(try jobs.responders(to: "f").map(\.key) == ["b"])
        #expect(token?.isActive == true)
        _ = consume token
        newer.cancel()
        #expect(try jobs.responders() == [])
        try await end()
    }

    @Test func oneRemovesItselfWhileItAnswers() async throws {
        let below = try stacked("below")
        let once = try jobs.respond(to: "f", key: "once") { (_: Int, next) -> String in
            next.removeCurrent()
            #expect(try !jobs.hasResponder(to: "f", key: "once"))
            // The responder below can be asked all the same.
            return "once, then \(try await next())"
        }
        #expect(try await jobs.request("f", 1) == "once, then below1")
        #expect(try await jobs.request("f", 2) == "below2")
        #expect(!once.isActive)
        below.cancel()
        try await end()
    }

    /// When a responder leaves, the requests that it has not begun go to the next one; those that it has begun do not.
    @Test func whatWasNotBegunIsPassedOn() async throws {
        let below = try stacked("below")
        let (gate, began) = (Slot<Bool>(), Count())
        let top = try jobs.respond(to: "f", key: "top") { (n: Int, _) -> String in
            began.add()
            try await gate.filled()
            return "top\(n)"
        }
        async let first: String = jobs.request("f", 1)
        #expect(try await eventually { began.value == 1 })
        async let second: String = jobs.request("f", 2)
        #expect(try await eventually { try jobs.status().requests.count == 2 })
        top.cancel()
        #expect(try await second == "below2")
        #expect(try await jobs.request("f", 3) == "below3")
        gate.value = true
        #expect(try await first == "top1")
        #expect(began.value == 1)
        below.cancel()
        try await end()
    }

    @Test func nextTakesAnotherArgument() async throws {
        let base = try jobs.respond(to: "double", base: true) { (n: Int, _) -> Int in 2 * n }
        let top = try jobs.respond(to: "double") { (n: Int, next) -> Int in try await next(n + 1) }
        #expect(try await jobs.request("double", 3) == 8)
        for token in [base, top] { token.cancel() }
        try await end()
    }

    // MARK: Values and errors

    @Test func valuesAreTyped() async throws {
        let token = try jobs.respond(to: "wider") { (size: Size, _) -> Size in Size(width: size.width + 1) }
        #expect(try await jobs.request("wider", Size(width: 1)) == Size(width: 2))
        let wrong = await #expect(throws: SpaceError.self) {
            try await jobs.request("wider", "no size", as: Size.self)
        }
        #expect(wrong?.code == .responderFailed && wrong?.holder == getpid())
        #expect(wrong?.reason.contains("the argument is no Size") == true)
        let other = await #expect(throws: SpaceError.self) {
            try await jobs.request("wider", Size(width: 1), as: String.self)
        }
        #expect(other?.code == .badData && other?.reason.contains("is no String") == true)
        // The responder goes on answering.
        #expect(try await jobs.request("wider", Size(width: 5)) == Size(width: 6))
        token.cancel()
        try await end()
    }

    @Test func withoutAnArgumentItIsNull() async throws {
        let token = try jobs.respond(to: "ping") { (value: Value, _) -> Bool in value == .null }
        #expect(try await jobs.request("ping") == true)
        #expect(try await onThread { try jobs.request("ping", timeout: .seconds(60)) } == true)
        token.cancel()
        try await end()
    }

    @Test func errorsTravel() async throws {
        struct Broken: Error, CustomStringConvertible { var description: String { "the disk is on fire" } }
        let token = try jobs.respond(to: "f") { (_: Int, _) -> Int in throw Broken() }
        let above = try jobs.respond(to: "f") { (n: Int, next) -> Int in try await next() }
        let error = await #expect(throws: SpaceError.self) {
            try await jobs.request("f", 1, as: Int.self)
        }
        #expect(error?.code == .responderFailed && error?.holder == getpid())
        #expect(error?.reason.contains("the disk is on fire") == true)
        for token in [token, above] { token.cancel() }
        try await end()
    }

    @Test func nobodyIsAnErrorOrIsWaitedFor() async throws {
        let error = await #expect(throws: SpaceError.self) {
            try await jobs.request("f", 1, as: String.self)
        }
        #expect(error?.code == .noResponder)
        #expect(try await jobs.request("f", 1, as: String.self, ifAbsent: .waits, timeout: .milliseconds(1)) == nil)
        async let reply: String = jobs.request("f", 1, ifAbsent: .waits)
        async let other: String? = onThread {
            try jobs.request("f", 2, ifAbsent: .waits, timeout: .seconds(60))
        }
        #expect(try await eventually { try jobs.status().waiters.count == 2 })
        let token = try stacked("a")
        #expect(try await reply == "a1")
        #expect(try await other == "a2")
        let below = await #expect(throws: SpaceError.self) {
            let above = try jobs.respond(to: "g") { (n: Int, next) -> Int in try await next() }
            defer { above.cancel() }
            return try await jobs.request("g", 1, as: Int.self)
        }
        #expect(below?.code == .responderFailed && below?.reason.contains("nobody below") == true)
        token.cancel()
        try await end()
    }

    /// The handler of a request that is taken back is cancelled, and so is its request below; nothing of the request is
    /// left.
    @Test(arguments: [true, false])
    func aRequestThatIsTakenBackCancelsItsHandlers(_ byTimeout: Bool) async throws {
        let (began, cancelled) = (Count(), Count())
        let (topBegan, topCancelled) = (Count(), Count())
        let base = try jobs.respond(to: "f", base: true) { (_: Int, next) -> Int in
            began.add()
            #expect(byTimeout == (next.remaining != nil))
            do { try await Task.sleep(for: .seconds(600)) } catch { cancelled.add() }
            return 0
        }
        let top = try jobs.respond(to: "f") { (_: Int, next) -> Int in
            topBegan.add()
            do { return try await next() } catch {
                topCancelled.add()
                throw error
            }
        }
        let asking = Task {
            while true {
                guard byTimeout else { return try await jobs.request("f", 1, as: Int.self) as Int? }
                let reply = try await jobs.request("f", 1, as: Int.self, timeout: .milliseconds(200))
                // On a busy machine the time may pass before the base is asked.
                if reply != nil || began.value > 0 { return reply }
            }
        }
        #expect(try await eventually { began.value == 1 })
        if !byTimeout { asking.cancel() }
        if byTimeout {
            #expect(try await asking.value == nil)
        } else {
            let error = await #expect(throws: SpaceError.self) { try await asking.value }
            #expect(error?.code == .cancelled)
        }
        #expect(try await eventually { cancelled.value == 1 && topCancelled.value == topBegan.value })
        #expect(try await eventually { try jobs.status().requests == [] })
        for token in [base, top] { token.cancel() }
        try await end()
    }

    @Test func asManyRunSideBySideAsItsAuthorAllows() async throws {
        let (meter, gate) = (Meter(), Slot<Bool>())
        let token = try jobs.respond(to: "f", concurrency: 2) { (n: Int, _) -> Int in
            meter.begin(n)
            try await gate.filled()
            meter.end()
            return n
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<6 {
                group.addTask { try await jobs.request("f", n) }
                #expect(try await eventually { try jobs.status().requests.count == n + 1 })
            }
            #expect(try await eventually { meter.order.count == 2 })
            gate.value = true
            var sum = 0
            for try await n in group { sum += n }
            #expect(sum == 15)
        }
        #expect(meter.most == 2)
        // The requests begin in the order in which they were asked, except that two begin at once.
        #expect(Set(meter.order.prefix(2)) == [0, 1])
        token.cancel()
        try await end()
    }

    /// Counts the handlers that run side by side.
    private final class Meter: Sendable {
        private let state = Mutex<(order: [Int], running: Int, most: Int)>(([], 0, 0))

        var order: [Int] { state.withLock { $0.order } }
        var most: Int { state.withLock { $0.most } }

        func begin(_ n: Int) {
            state.withLock { state in
                state.order.append(n)
                state.running += 1
                state.most = max(state.most, state.running)
            }
        }

        func end() { state.withLock { $0.running -= 1 } }
    }

    // MARK: Names, limits, ends

    @Test func aNameIsOneThing() async throws {
        let lock = try jobs.lock("l").tryAcquire()
        let error = #expect(throws: SpaceError.self) { try jobs.respond(to: "l") { (n: Int, _) -> Int in n } }
        #expect(error?.code == .typeMismatch)
        let asked = await #expect(throws: SpaceError.self) {
            try await jobs.request("l", 1, as: Int.self)
        }
        #expect(asked?.code == .typeMismatch)
        extendLifetime(lock)
        let token = try jobs.respond(to: "r") { (n: Int, _) -> Int in n }
        let other = #expect(throws: SpaceError.self) { _ = try jobs.lock("r").tryAcquire() }
        #expect(other?.code == .typeMismatch)
        token.cancel()
    }

    @Test func whatIsOutOfRangeIsRefused() async throws {
        for (name, key) in [("", "k"), (String(repeating: "n", count: 241), "k"), ("n", "")] {
            let error = #expect(throws: SpaceError.self) {
                try jobs.respond(to: name, key: key) { (n: Int, _) -> Int in n }
            }
            #expect(error?.code == .invalidArgument)
        }
        let none = #expect(throws: SpaceError.self) {
            try jobs.respond(to: "n", concurrency: 0) { (n: Int, _) -> Int in n }
        }
        #expect(none?.code == .invalidArgument)
        let request = await #expect(throws: SpaceError.self) {
            try await jobs.request("", 1, as: Int.self)
        }
        #expect(request?.code == .invalidArgument)
        try await end()
    }

    /// A request is not a tuple: a take that matches anything does not get it.
    @Test func requestsAreNoTuples() async throws {
        let gate = Slot<Bool>()
        let token = try jobs.respond(to: "f") { (n: Int, _) -> Int in
            try await gate.filled()
            return n
        }
        async let reply: Int = jobs.request("f", 1)
        #expect(try await eventually { try jobs.status().requests.count == 1 })
        #expect(try jobs.takeIfExists(matching: .any) == nil)
        #expect(try jobs.count() == 0)
        #expect(try jobs.cells().isEmpty)
        #expect(try jobs.verify() == [])
        gate.value = true
        #expect(try await reply == 1)
        token.cancel()
        try await end()
    }

    /// A reply that does not fit into the namespace is told as a failure, and the responder goes on answering.
    @Test func aReplyThatIsTooLargeIsAFailure() async throws {
        let small = try SpaceTest.namespace("small", options: NamespaceOptions(byteLimit: 16 << 20))
        let token = try small.respond(to: "zeros") { (n: Int, _) -> String in String(repeating: "0", count: n) }
        #expect(try await small.request("zeros", 1 << 20, as: String.self).utf8.count == 1 << 20)
        let error = await #expect(throws: SpaceError.self) {
            try await small.request("zeros", 40 << 20, as: String.self)
        }
        #expect(error?.code == .responderFailed && error?.reason.contains("could not be stored") == true)
        #expect(try await small.request("zeros", 2, as: String.self) == "00")
        token.cancel()
    }

    @Test func leavingEndsTheHandlesResponders() async throws {
        let other = try root.space.namespace("jobs")
        let mine = try stacked("mine")
        let theirs = try other.respond(to: "f", key: "theirs") { (_: Int, _) -> String in "theirs" }
        #expect(try await jobs.request("f", 1) == "theirs")
        try other.leave()
        #expect(!theirs.isActive && mine.isActive)
        #expect(try await jobs.request("f", 1) == "mine1")
        mine.cancel()
        try await end()
    }

    /// A handler that can't go on because its handle was left has not failed: the next responder is asked.
    @Test func leavingInTheMidstPassesTheRequestOn() async throws {
        let other = try root.space.namespace("jobs")
        let base = try stacked("base", base: true)
        let below = try stacked("below")
        let (begun, gate) = (Count(), Slot<Bool>())
        let top = try other.respond(to: "f") { (_: Int, next) -> String in
            begun.add()
            try await gate.filled()
            return try await next()
        }
        async let reply: String = jobs.request("f", 1)
        #expect(try await eventually { begun.value == 1 })
        try other.leave()
        gate.value = true
        #expect(try await reply == "below(base1)")
        for token in [top, below, base] { token.cancel() }
        try await end()
    }
}
