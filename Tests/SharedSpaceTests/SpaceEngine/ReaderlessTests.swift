import LMDB
import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// A process that can't read, because no reader of the database is free, must not conclude that anything has changed.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(2)))
struct ReaderlessTests {
    let namespace: Namespace
    let core: NamespaceCore

    init() throws {
        namespace = try SpaceTest.namespace("n")
        core = namespace.core
    }

    /// Takes all readers that there are; they are given back when the result goes.
    private func takeReaders() -> [Reader] {
        var taken: [Reader] = []
        while let idle = core.engine.readers.take() { taken.append(idle) }
        do throws(LMDBError) {
            while true { taken.append(Reader(try core.engine.environment.beginRead())) }
        } catch {
            #expect(error == .readersFull)
        }
        return taken
    }

    /// A leader that can't look whether it still leads is not told that it doesn't.
    @Test func notToSeeIsNoLoss() async throws {
        let election = namespace.election("leader")
        let (losses, told) = AsyncStream.makeStream(of: SpaceError.Code.self)
        let leadership = try await election.stand { told.yield($0.code) }
        #expect(try await eventually { namespace.core.slotsInUse > 0 })
        var readers: [Reader] = []
        // A reader may have been in use at the first attempt.
        #expect(
            try await eventually {
                readers += takeReaders()
                return (try? leadership.isHeld) == nil
            }
        )
        // The leader's watch looks in vain, and waits on.
        core.upkeep.wakeOwnWaiters()
        readers = []
        #expect(try leadership.isHeld)
        #expect(try election.depose())
        var iterator = losses.makeAsyncIterator()
        #expect(await iterator.next() == .holdLost)
        #expect(readers.isEmpty)
    }

    /// If an asker can't look for the answer until its time has passed, it takes the request back.
    @Test func aRequestThatCantBeLookedAtIsTakenBack() throws {
        let base = try core.responders.enrol("f", key: "base", isBase: true)
        let request = OutgoingRequest(name: "f", argument: Value.int(1).knownElement)
        let ticket = try #require(try core.requests.ask(request))
        var readers = takeReaders()
        let error = #expect(throws: SpaceError.self) {
            try Requesting(core, request, .fails, timeout: .milliseconds(300)).end(ticket)
        }
        #expect(error?.code == .readersExhausted)
        readers = []
        #expect(try namespace.status().requests == [] && readers.isEmpty)
        try core.responders.remove(base, of: "f")
    }

    /// A waiter that finds no reader for its look looks again.
    @Test func whoWaitsLooksAgain() async throws {
        var readers = takeReaders()
        let task = Task { [namespace] () throws -> Int in
            let job = try await namespace.take("job", any(Int.self))
            return job.1
        }
        let thread = Task { [namespace] () throws -> Int? in
            try await onThread { () throws -> Int? in
                let job = try namespace.take("job", any(Int.self), timeout: watchdog)
                return job?.1
            }
        }
        #expect(try await eventually { core.slots.inUse.load() == 2 })
        // The time of this read is over before it has looked once.
        let error = #expect(throws: SpaceError.self) { try namespace.read("job", 3, timeout: .milliseconds(1)) }
        #expect(error?.code == .readersExhausted)
        readers = []
        #expect(readers.isEmpty)
        try namespace.write("job", 1)
        try namespace.write("job", 2)
        let taken: Set<Int?> = [try await task.value, try await thread.value]
        #expect(taken == [1, 2])
    }
}
