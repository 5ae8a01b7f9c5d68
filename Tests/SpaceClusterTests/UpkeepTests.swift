import ClusterStore
import ClusterStoreTesting
import Glibc
import SharedSpace
import SpaceEngine
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceCluster
@testable import TupleSpace

/// What ends by itself in a namespace of several machines, and what is told if it can't.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct UpkeepTests {
    let cluster: TestCluster
    private static let text = String(repeating: "x", count: 100_000)

    init() throws { cluster = try TestCluster() }

    /// A namespace on each machine, and a process that watches it, so that the journal has what ends once more.
    private func watchedNamespaces() throws -> ([Namespace], watcher: Agent) {
        let n = try cluster.namespaces()
        let watcher = try Agent(cluster[1].root, "n")
        #expect(try watcher.ask("watch").hasPrefix("ok"))
        return (n, watcher)
    }

    /// What a process wrote for its session ends with it on all machines, also if all of it is more than one entry has room
    /// for, because a watcher's journal has it once more.
    @Test func largeValuesOfASessionEndWithIt() throws {
        let (n, watcher) = try watchedNamespaces()
        let writer = try Agent(cluster[1].root, "n")
        for number in 0..<24 { try writer.run("write-session [\"large\", \(number), \"\(Self.text)\"]") }
        try n[0].synchronize()
        #expect(try n[0].count(matching: ["large", .any, .any]) == 24)
        try writer.kill()
        for namespace in n { #expect(try eventually { try namespace.count(matching: ["large", .any, .any]) == 0 }) }
        try watcher.exit()
        try cluster.expectSame(n)
    }

    /// How many tuples and cells end by themselves.
    private func expiring(in namespace: Namespace) throws -> UInt64 {
        try namespace.core.read { (snapshot) throws(SpaceError) in try snapshot.counters().expiring }
    }

    /// Two machines of one name work, and are told.
    @Test func twoMachinesOfOneNameAreTold() throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let twin = try runner.start("space-test-daemon", ["join", "--etcd", cluster.store, "--name", "m0"])
        defer { twin.signal(SIGKILL) }
        #expect(try twin.readLine() == "joined m0")
        #expect(try eventually { try cluster[0].machines().contains("are all named m0") })
        #expect(try cluster[1].machines().contains("are all named m0"))
    }

    /// What can't be ended is told, with the reason; when it can be, nothing is told any more.
    @Test func whatCannotBeEndedIsATrouble() throws {
        let n = try cluster.namespaces()
        let writer = try Agent(cluster[1].root, "n")
        try writer.run("write-session [\"gone\", 1]")
        let holder = try Agent(cluster[1].root, "n")
        try holder.run("arm stop gateTaken")
        try holder.send("transact")
        try holder.waitUntilStopped()
        try writer.kill()
        func isTold() throws -> Bool {
            let said = try cluster[1].machines()
            return said.contains("what dead processes of this machine had can't be ended")
                && said.contains("process \(holder.pid)")
        }
        #expect(try eventually { try isTold() })
        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok") == true)
        for namespace in n { #expect(try eventually { try namespace.count(matching: ["gone", 1]) == 0 }) }
        #expect(try eventually { try !isTold() })
        try cluster.expectSame(n)
    }

    /// Tuples that expire at once go also if all of them are more than one entry has room for, and a large write beside them
    /// is not refused for their sake.
    @Test func largeValuesExpire() throws {
        let (n, watcher) = try watchedNamespaces()
        for number in 0..<12 { try n[0].write("large", number, Self.text, expires: .seconds(2)) }
        #expect(try eventually { try n[0].readIfExists("large", any(Int.self), any(String.self)) == nil })
        try n[0].write("other", String(repeating: "y", count: 400_000))
        for namespace in n { #expect(try eventually { try expiring(in: namespace) == 0 }) }
        try watcher.exit()
        try cluster.expectSame(n)
    }

    /// What could just be written can be taken, although the journal has it then.
    @Test func theLargestTupleIsTaken() throws {
        let n = try cluster.namespaces()
        var size = 1 << 20
        func isWritten() throws -> Bool {
            let code = errorCode { try n[0].write("large", String(repeating: "x", count: size)) }
            #expect(code == nil || code == .transactionTooLarge)
            return code == nil
        }
        while try !isWritten() { size -= 16 }
        try n[0].setHistory(History(changes: 1000, bytes: 8 << 20))
        try n[1].synchronize()
        #expect(try n[1].takeIfExists("large", any(String.self))?.1.utf8.count == size)
        try cluster.expectSame(n)
    }

    // MARK: What is told

    @Test func whatFailsThreeTimesIsATrouble() {
        var failures = UpkeepFailures()
        func fail(_ step: UpkeepFailures.Step, _ times: Int) {
            for _ in 0..<times { failures.note(step, StoreError.refused("it is full")) }
        }
        fail(.keepOwners, 2)
        fail(.endMember(3), 3)
        fail(.endMember(4), 4)
        #expect(failures.troubles.map { $0.prefix(8) } == ["member 3", "member 4"])
        #expect(failures.troubles[1].hasSuffix("(tried 4 times): the store refused the request: it is full"))
        failures.forgetMembers(but: [4])
        fail(.keepOwners, 1)
        #expect(failures.troubles.count == 2)
        failures.note(.keepOwners, nil)
        fail(.keepOwners, 2)
        #expect(failures.troubles.map { $0.prefix(8) } == ["member 4"])
    }

    @Test func theEndOfTheNumbersIsToldInTime() {
        #expect(Registrar.troubles(ofLast: 13_421_771) == [])
        #expect(Registrar.troubles(ofLast: 13_421_772).count == 1)
    }

    /// The numbers go on above those that have 16 bits, and end with an error.
    @Test func numbersOfMembersHave24Bits() async throws {
        let store = MemoryStore()
        let keys = try ClusterKeys(prefix: "p", space: "s")
        let value = MemberValue(machine: "m", place: [])
        let registrar = Registrar(store: store, keys: keys, settings: ClusterSettings(), value: value)
        for last: UInt64 in [0xFFFF, 0xFF_FFFE] {
            store.change([.put(keys.nextMember, NumberValue(last + 1).encoded, .none)])
            #expect(try await registrar.register().number == UInt32(last + 1))
        }
        let error = await #expect(throws: Registrar.Failure.self) { try await registrar.register() }
        #expect(error?.told.hasPrefix("all 16777215 numbers of members were used") == true)
    }
}
