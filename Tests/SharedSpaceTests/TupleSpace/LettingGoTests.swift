import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import TupleSpace

/// Holds, claims, handles and the like that are released within a transaction's body, where no other transaction can
/// write.
@Suite(.spaceTest, .timeLimit(.minutes(2)))
struct LettingGoTests {
    private struct Stop: Error {}

    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    /// Runs a body in a transaction, which is committed or undone.
    private func transact(isUndone: Bool, _ body: () -> Void) throws {
        do {
            try namespace.transaction { transaction in
                body()
                try transaction.write("done")
                if isUndone { throw Stop() }
            }
        } catch is Stop {}
    }

    @Test(arguments: Possession.allCases, [false, true])
    func itIsLetGoOfRightAfterTheTransaction(_ what: Possession, isUndone: Bool) throws {
        var thing: (any AnyObject & Sendable)? = try what.make(in: namespace)
        #expect(try namespace.possessions() == 1)
        withExtendedLifetime(thing) {}
        try transact(isUndone: isUndone) { thing = nil }
        #expect(try namespace.possessions() == 0)
    }

    /// Between the end of its places and its own, a process that leaves enters no queue: it would be served what it held.
    @Test func whoLeavesEntersNoQueue() throws {
        namespace.core.engine.beginLeaving()
        #expect(try refusal { _ = try namespace.lock("l").tryAcquire() }.code == .closed)
        #expect(try namespace.status().holds == [])
    }

    @Test func nobodyIsAskedWhoHasGone() async throws {
        var token: ResponderToken? = try namespace.respond(to: "f") { (n: Int, _) -> Int in n }
        #expect(try await namespace.request("f", 1) == 1)
        try transact(isUndone: false) { token?.cancel() }
        #expect(token?.isActive == false)
        token = nil
        let error = await #expect(throws: SpaceError.self) {
            try await namespace.request("f", 1, as: Int.self)
        }
        #expect(error?.code == .noResponder)
    }

    /// A handle that was never released would own the namespace as long as the process lives.
    @Test(arguments: [false, true]) func aHandleGoesToo(isUndone: Bool) throws {
        var other: Namespace? = try root.space.namespace("n")
        withExtendedLifetime(other) {}
        try transact(isUndone: isUndone) { other = nil }
        #expect(try namespace.verify() == [])
        try namespace.leave()
        #expect(try root.space.namespaceNames() == [])
    }
}
