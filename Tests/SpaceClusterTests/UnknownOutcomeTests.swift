import Glibc
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// What a process holds without knowing it: it was told that the outcome of a change is unknown, and has no handle for what
/// the change has made.
///
/// The tests wait most of the time, each with machines of its own, and so side by side.
@Suite(.blocking, .timeLimit(.minutes(5)))
struct UnknownOutcomeTests {
    private let cluster: TestCluster
    private let n: Namespace

    init() throws {
        cluster = try TestCluster(machines: 1)
        n = try cluster.namespaces()[0]
        // A transaction, so that the machine holds the pen: the change itself is what the store does not answer.
        try n.repeatableTransaction { try $0.write("job", 1) }
    }

    /// Lets a change reach a store that does not answer in time: it has done the change, or refuses it later.
    ///
    /// A store that is stopped before the change may have to answer first what the daemon asks when its own patience has
    /// ended, and the change is refused then. So one that is to be done is done before the store is stopped.
    private func withoutAnswer<Result: Sendable>(
        _ isDone: Bool,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let entries = try cluster.ask("keys /log/")
        try cluster.tell(isDone ? "hold 1" : "refuse 1")
        if !isDone { try cluster.stopStore() }
        defer { cluster.continueStore() }
        async let result = onThread(body)
        if isDone {
            try expectAppended(after: entries)
            try cluster.stopStore()
        }
        return try await result
    }

    private func expectAppended(after entries: Int) throws {
        #expect(try eventually { try cluster.ask("keys /log/") > entries })
    }

    /// Each kind of thing that a process can hold.
    enum Kind: CaseIterable {
        case lock, claim, claimInTransaction, request, responder, watch, subscription

        func make(in n: Namespace) throws {
            switch self {
            case .lock: _ = try n.lock("L").tryAcquire()
            case .claim: _ = try n.claimIfExists(matching: ["job", 1])
            case .claimInTransaction: _ = try n.transaction { try $0.claimIfExists(matching: ["job", 1]) }
            case .request: _ = try n.request("answered", as: Value.self, timeout: .seconds(60))
            case .watch: _ = try n.changes()
            case .subscription: _ = try n.changes(from: .subscription("s"))
            case .responder: _ = try n.respond(to: "asked") { (number: Int) in number }
            }
        }
    }

    private func holdsNothing() throws -> Bool {
        let status = try n.status()
        return status.holds.isEmpty && status.claims.isEmpty && status.requests.isEmpty
            && status.responders.allSatisfy { $0.name == "answered" } && status.watchers.allSatisfy { $0.pid == nil }
    }

    /// What has come about is let go of, also in a process that lives on.
    @Test(arguments: Kind.allCases, [true, false])
    func nothingStaysHeld(_ kind: Kind, isDone: Bool) async throws {
        let answering = try Agent(cluster[0].root, "n", "owning=0")
        if kind == .request { try answering.run("respond answered key hold") }
        let before = try n.status().entry
        let code = try await withoutAnswer(isDone) { [n] in errorCode { try kind.make(in: n) } }
        #expect(code == .outcomeUnknown)
        // One entry has made it, and another has ended it.
        if isDone { #expect(try await eventually { try n.status().entry >= before + 2 }) }
        try expectNothingHeld()
        // What the process makes later has other numbers, and stays.
        let lock = try await n.lock("L").acquire(timeout: watchdog).inTime()
        #expect(try n.status().holds.count == 1)
        try lock.release()
        try cluster.expectSame([n])
    }

    /// A command that claims for another process, and does not know whether it has, leaves no claim of that process.
    @Test(arguments: [true, false])
    func aClaimForAProcessDoesNotStay(isDone: Bool) async throws {
        let environment = ["SHARED_SPACE_OWNER": "\(getpid())"]
        let words = ["claim", "n", "[\"job\", 1]", "--hold"]
        let unanswered = try await withoutAnswer(isDone) { [runner = cluster[0].runner] in
            try runner.start("space", words, environment: environment).finish()
        }
        #expect(unanswered.ending == .exited(75), "\(unanswered.errors)")
        #expect(try await eventually { errorCode { try n.write("late", 1) } == nil })
        #expect(try await eventually { try n.readIfExists("job", 1) != nil })
        // With answers, the claim is that process's.
        let claim = try cluster[0].runner.start("space", words, environment: environment).finish()
        #expect(claim.ending == .exited(0), "\(claim.errors)")
        #expect(try n.status().claims.map(\.pid) == [getpid()])
    }

    private func expectNothingHeld() throws {
        #expect(try eventually { errorCode { try n.write("late", 1) } == nil })
        #expect(try eventually(holdsNothing))
        #expect(try n.readIfExists("job", 1) != nil)
    }

    /// The daemon is killed after it has appended the entry of a claim, and before it has told the process, which lives on.
    @Test(arguments: [true, false])
    func aClaimOfAKilledDaemonDoesNotStay(keepsLease: Bool) async throws {
        let (n, before, entries) = (n, try n.status().entry, try cluster.ask("keys /log/"))
        try cluster.tell("hold 1")
        async let code = onThread { errorCode { _ = try n.claimIfExists(matching: ["job", 1]) } }
        try endDaemonAfterAppending(entries, keepsLease)
        #expect(try await code == .outcomeUnknown)
        // The machine is another member now; the end of the former one ends what its sessions hold.
        try cluster.start(0)
        try expectNothingHeld()
        // One entry has made the claim, and another has ended it.
        #expect(try n.status().entry >= before + 2)
    }

    private func endDaemonAfterAppending(_ entries: Int, _ keepsLease: Bool) throws {
        try expectAppended(after: entries)
        try cluster.end(0, by: SIGKILL, keepsLease: keepsLease)
        try cluster.tell("release")
    }

    /// A number that a change of unknown outcome may have used is given to nothing else, so nothing else is let go of with it.
    @Test func noNumberIsGivenTwice() async throws {
        func fencing() throws -> UInt64 {
            let lock = try n.lock("L").acquire(timeout: watchdog).inTime()
            defer { try? lock.release() }
            return lock.fencing
        }
        let first = try fencing()
        let code = try await withoutAnswer(false) { [n] in errorCode { _ = try n.lock("L").tryAcquire() } }
        #expect(code == .outcomeUnknown)
        #expect(try await eventually { errorCode { try n.write("late", 1) } == nil })
        #expect(try fencing() == first + 2)
    }

    /// A lock that a process lets go of is free, also if the store refuses that at first, and the process does not hear of it.
    @Test func aReleaseIsRepeated() async throws {
        let lock = Mutex(try await n.lock("L").acquire(timeout: watchdog))
        #expect(try lock.withLock { try $0?.isHeld } == true)
        try await withoutAnswer(false) { lock.withLock { $0 = nil } }
        let other = try Agent(cluster[0].root, "n", "owning=0")
        #expect(try other.ask("lock L 120000") == "waiting")
        #expect(try other.line()?.hasPrefix("ok") == true)
    }

    /// A reply comes once, and the request is handled once.
    @Test(arguments: [true, false])
    func aReplyIsRepeated(isDone: Bool) async throws {
        let agent = try Agent(cluster[0].root, "n", "owning=0")
        try agent.run("respond f key say,hold,reply")
        let asking = try cluster[0].runner.start("space", ["request", "n", "f", "7", "--wait", "10m"])
        #expect(try agent.line() == "at key")
        try agent.run("arm stop beforeLogging")
        try agent.run("let-go")
        try agent.waitUntilStopped()
        let code = try await withoutAnswer(isDone) { [n] in
            agent.resume()
            // The agent has the gate until it has waited for the answer.
            return errorCode { try n.write("late", 1) }
        }
        #expect(code == .clusterUnavailable)
        #expect(try asking.finish().output == "\"key:7\"\n")
        #expect(try agent.ask("count [\"job\", 1]") == "ok 1")
        #expect(try n.status().requests.isEmpty)
    }
}
