import SeededRandom
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// In a namespace at its byte limit, what dead processes held is released all the same, even if some of their tuples
/// are too large to be moved.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct FullNamespaceTests {
    /// More bytes than are kept back for removals.
    private static let tooLarge = 4_500_000

    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        // The limit lets two tuples of that size fit beside each other, wherever they lie.
        namespace = try SpaceTest.namespace("full", options: NamespaceOptions(byteLimit: 24 << 20))
    }

    private func fill() throws {
        for size in [100_000, 4000] {
            let body = [UInt8](repeating: 7, count: size)
            let refused = #expect(throws: SpaceError.self) { while true { try namespace.write("fill", body) } }
            #expect(refused?.code == .limitReached)
        }
    }

    /// Has an agent wait for the lock that another holds.
    private func waiter() throws -> Agent {
        let before = try namespace.status().holds.count
        let waiter = try Agent(root, "full")
        try waiter.send("lock build 60000")
        #expect(try waiter.line() == "waiting")
        #expect(try eventually { try namespace.status().holds.count == before + 1 })
        return waiter
    }

    private func lock(_ agent: Agent) throws {
        try agent.send("lock build 60000")
        #expect(try agent.line() == "waiting")
        #expect(try agent.line()?.hasPrefix("ok ") == true)
    }

    /// A claimed tuple that can't be put back does not hold up the lock, or the tuples that were claimed after it.
    @Test func aLargeClaimHoldsNothingElseUp() throws {
        try namespace.write("big", String(repeating: "x", count: Self.tooLarge))
        for number in 0..<3 { try namespace.write("small", number) }
        let holder = try Agent(root, "full")
        try lock(holder)
        try holder.run("claim-all")
        #expect(try namespace.count() == 0)
        let waiter = try waiter()
        try fill()
        try holder.kill()
        #expect(try waiter.line()?.hasPrefix("ok ") == true)
        #expect(try eventually { try namespace.count(matching: ["small", .any]) == 3 })
        // When there is space again, the large tuple returns too, as the next process looks.
        while try namespace.takeIfExists("fill", any([UInt8].self)) != nil {}
        _ = try Agent(root, "full")
        #expect(try namespace.count(matching: ["big", .any]) == 1)
    }

    /// A large tuple whose claim has passed its deadline, and that can't be put back, keeps no process from reading and
    /// taking.
    @Test func aLargeClaimPastItsDeadlineHoldsNothingUp() throws {
        try namespace.write("big", String(repeating: "x", count: Self.tooLarge))
        try namespace.write("small")
        try claimAndFill()
        // The small one returns, so the deadlines have passed; the large one was claimed first.
        #expect(try eventually { try namespace.readIfExists("small") != nil })
        #expect(try namespace.readIfExists(matching: ["big", .any]) == nil)
        #expect(try namespace.takeIfExists("fill", any([UInt8].self)) != nil)
        while try namespace.takeIfExists("fill", any([UInt8].self)) != nil {}
        #expect(try namespace.readIfExists(matching: ["big", .any]) != nil)
    }

    /// Of several large tuples whose claims have passed their deadlines, one that can be put back is, although they can't be
    /// together.
    @Test func ofLargeClaimsPastTheirDeadlinesThoseThatFitReturn() throws {
        try namespace.write("big", String(repeating: "x", count: Self.tooLarge))
        try namespace.write("small", String(repeating: "x", count: 20_000))
        try claimAndFill()
        #expect(try eventually { try namespace.readIfExists(matching: ["small", .any]) != nil })
        #expect(try namespace.readIfExists(matching: ["big", .any]) == nil)
    }

    /// Claims both tuples, and fills the namespace before their deadlines have passed.
    ///
    /// A deadline that passes meanwhile shows nothing; the next one is longer.
    private func claimAndFill() throws {
        for deadline in [Duration.seconds(5), .seconds(20), .seconds(80)] {
            guard let big = try namespace.claimIfExists(matching: ["big", .any], deadline: deadline),
                let small = try namespace.claimIfExists(matching: ["small", .rest], deadline: deadline)
            else { throw TestFailure("the tuples are not to be had") }
            _ = (big.detach(), small.detach())
            try fill()
            if try namespace.status().claims.count == 2 { return }
            while try namespace.takeIfExists("fill", any([UInt8].self)) != nil {}
            #expect(try eventually { try namespace.readIfExists(matching: ["big", .any]) != nil })
            #expect(try eventually { try namespace.readIfExists(matching: ["small", .rest]) != nil })
        }
        throw TestFailure("the claims end before the namespace is full")
    }

    /// A request that is too large to be taken over fails, and its process's lock is released.
    @Test func aLargeRequestThatIsNotTakenOverFails() async throws {
        let (top, low) = (try Agent(root, "full"), try Agent(root, "full"))
        try low.run("respond big low say,hold base")
        try top.run("respond big top next")
        try lock(top)
        let namespace = namespace
        let asking = Task {
            try await namespace.request("big", String(repeating: "x", count: Self.tooLarge), as: String.self)
        }
        #expect(try await onThread { try low.line() } == "at low")
        let waiter = try waiter()
        try fill()
        try top.kill()
        let line = try await onThread { try waiter.line() }
        #expect(line?.hasPrefix("ok ") == true)
        let error = await #expect(throws: SpaceError.self) { try await asking.value }
        #expect(error?.code == .responderFailed)
        #expect(error?.holder == top.pid)
        // The handler that was at the request is told to stop.
        #expect(try await onThread { try low.line() } == "cancelled low")
        #expect(try namespace.status().requests == [])
    }

    /// Fills two thirds of what additions may use of the smallest namespace, so that little is left to be filled by small tuples.
    private func addBallast(to namespace: Namespace) throws {
        for number in 0..<8 { try namespace.set("ballast \(number)", [UInt8](repeating: 7, count: 1 << 20)) }
    }

    /// Claims leave the room for what ends them: when no more can be claimed, all can be completed or released, and the rest
    /// taken.
    ///
    /// A claim needs as much room as a small tuple; so of large ones all can be claimed, and of small ones not.
    @Test(arguments: zip([StorageMode.fast, .guarded], [1900, 1]))
    func claimsLeaveRoomForTheirEnds(_ mode: StorageMode, size: Int) throws {
        let namespace = try SpaceTest.namespace(mode, "claims", byteLimit: 16 << 20)
        try addBallast(to: namespace)
        let payload = String(repeating: "x", count: size)
        var count = 0
        for batch in [1000, 1] {
            let refused = #expect(throws: SpaceError.self) {
                while true {
                    try namespace.write(contentsOf: (0..<batch).map { Tuple("job", $0, payload) })
                    count += batch
                }
            }
            #expect(refused?.code == .limitReached)
        }
        var claims: [HeldClaim] = []
        var refusal: SpaceError?
        do throws(SpaceError) {
            while true {
                let more = try namespace.claimAll(matching: .any, order: .oldestFirst, max: 64, deadline: nil)
                if more.isEmpty { break }
                claims += more
            }
        } catch {
            refusal = error
        }
        if size == 1 {
            #expect(refusal?.code == .limitReached && claims.count > 1000)
        } else {
            #expect(refusal == nil && claims.count == count)
        }
        // Every second one is completed: no page gets free by that.
        for (index, claim) in claims.enumerated() where index % 2 == 0 { try namespace.complete(claim) }
        for (index, claim) in claims.enumerated() where index % 2 == 1 { #expect(try namespace.release(claim)) }
        #expect(try namespace.count() == count - (claims.count + 1) / 2)
        while try !namespace.takeAll(max: 32).isEmpty {}
        #expect(try namespace.count() == 0 && namespace.verify() == [])
    }

    /// Whatever was claimed in a full namespace returns when its claimer is killed, and can be taken, again and again: of
    /// tuples of any sizes, of which some were taken in between.
    ///
    /// (When claims and returns moved tuples from table to table, returned ones took more pages than before.)
    @Test(arguments: [UInt64(8), 103])
    func allThatADeadProcessClaimedReturns(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let namespace = try root.space.namespace("returns", options: NamespaceOptions(byteLimit: 16 << 20))
        try addBallast(to: namespace)
        var count = 0
        func fill() throws {
            let refused = #expect(throws: SpaceError.self) {
                while true {
                    let size = Int.random(in: 1000...2000, using: &random)
                    let kind = Int.random(in: 0..<3, using: &random)
                    try namespace.write("job", kind, String(repeating: "x", count: size))
                    count += 1
                }
            }
            #expect(refused?.code == .limitReached)
        }
        for _ in 0..<3 {
            try fill()
            while case let taken = try namespace.takeAll(matching: ["job", 0, .any], max: 32), !taken.isEmpty {
                count -= taken.count
            }
            let claimer = try Agent(root, "returns")
            try claimer.run("claim-each")
            try fill()
            try claimer.kill()
            #expect(try eventually { try namespace.count() == count })
        }
        while case let taken = try namespace.takeAll(max: 32), !taken.isEmpty { count -= taken.count }
        #expect(try count == 0 && namespace.count() == 0 && namespace.verify() == [])
    }

    /// In a full namespace a lock can be taken to empty it, and the objects that are there may change and be removed;
    /// new ones are refused.
    @Test(arguments: StorageMode.allCases)
    func whatIsThereChangesAndGoes(_ mode: StorageMode) throws {
        let options = NamespaceOptions(mode: mode, byteLimit: Limits.smallestByteLimit)
        let namespace = try root.space.namespace("objects", options: options)
        let (latch, counter) = (namespace.latch("latch", count: 3), namespace.counter("counter"))
        let rate = namespace.rateLimit("rate", limit: 5, per: .seconds(3600))
        try latch.countDown()
        try counter.add()
        #expect(try rate.tryAcquire())
        for size in [100_000, 4000] {
            let body = [UInt8](repeating: 7, count: size)
            #expect(throws: SpaceError.self) { while true { try namespace.write("fill", body) } }
        }
        // A counter takes less than the smallest of these tuples, so there is space for some.
        var fillers = 0
        #expect(throws: SpaceError.self) {
            while true {
                try namespace.counter("filler \(fillers)").add()
                fillers += 1
            }
        }
        #expect(try latch.countDown() == 1)
        #expect(try counter.add() == 2)
        #expect(try rate.tryAcquire())
        let refused = #expect(throws: SpaceError.self) { try namespace.counter("other").add() }
        #expect(refused?.code == .limitReached)
        #expect(try namespace.counter("other").value() == 0)
        try namespace.counter("other").remove()
        for name in ["lock", "semaphore"] {
            let hold =
                name == "lock"
                ? try namespace.lock(name).tryAcquire() : try namespace.semaphore(name, permits: 1).tryAcquire()
            guard let hold else { throw TestFailure("\(name) is not to be had") }
            try hold.release()
        }
        try latch.remove()
        try counter.remove()
        try rate.remove()
        for number in 0..<fillers { try namespace.counter("filler \(number)").remove() }
        #expect(try namespace.objects.isEmpty)
    }

    /// What leads to space goes on in a full namespace: a tuple or a cell gets an end, a buried item returns, and a small
    /// request is answered.
    @Test func whatLeadsToSpaceIsNotRefused() async throws {
        let options = NamespaceOptions(byteLimit: Limits.smallestByteLimit)
        let namespace = try root.space.namespace("ends", options: options)
        let queue = namespace.queue("mail")
        try queue.put("letter")
        guard let item = try queue.takeIfReady() else { throw TestFailure("no item") }
        try item.bury(reason: "broken")
        let id = try namespace.write(tuple: Tuple(fields: [.string("ends")]))
        try namespace.set("cell", 1)
        let responder = try Agent(root, "ends")
        try responder.run("respond ask low say")
        for size in [100_000, 4000, 100, 1] {
            let body = [UInt8](repeating: 7, count: size)
            let refused = #expect(throws: SpaceError.self) { while true { try namespace.write("fill", body) } }
            #expect(refused?.code == .limitReached)
        }
        #expect(try namespace.renew(id, expires: .seconds(3600)))
        #expect(try namespace.persist(id))
        #expect(try namespace.renew("cell", expires: .seconds(3600)))
        #expect(try namespace.persist("cell"))
        #expect(try queue.kick() == 1)
        async let reply: Void = namespace.request("ask", "small")
        #expect(try await onThread { try responder.line() } == "at low")
        try await reply
        // A large one has no room.
        let large = String(repeating: "x", count: 100_000)
        let refused = await #expect(throws: SpaceError.self) { try await namespace.request("ask", large) }
        #expect(refused?.code == .limitReached)
    }
}
