import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import SpaceSystem
@testable import TupleSpace

/// The two drivers of a wait in steps: a thread and a task.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct StepsTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace("n") }

    /// What became of a wait.
    private final class Notes: Sendable {
        let looks = Mutex(0)
        let givenUp = Mutex(0)
    }

    /// A wait for a cell that sleeps again after every time-out of its own, until it has slept three times.
    private struct CellWait: Steps {
        let core: NamespaceCore
        let operation = "wait for a cell"
        let notes: Notes
        let sleeping: Duration?
        var isFailing = false
        var sleeps = 0
        var value: Value?

        mutating func step() throws(SpaceError) -> Step<Value?> {
            if value != nil || sleeps == 3 { return .done(value) }
            if isFailing, sleeps == 1 { throw .cancelled }
            sleeps += 1
            let end = MonotonicInstant.deadline(after: sleeping)
            return .sleep(Sleep(Interest(cell: "x"), text: "x", until: end))
        }

        mutating func look() throws(SpaceError) -> Bool {
            notes.looks.withLock { $0 += 1 }
            value = try core.cell("x")
            return value != nil
        }

        func giveUp() { notes.givenUp.withLock { $0 += 1 } }
    }

    private func wait(_ notes: Notes, sleeping: Duration?, isFailing: Bool = false) -> CellWait {
        CellWait(core: namespace.core, notes: notes, sleeping: sleeping, isFailing: isFailing)
    }

    private func both(_ wait: CellWait) async -> [Result<Value?, SpaceError>] {
        let blocked = await Task.detached { Result { () throws(SpaceError) in try wait.block() } }.value
        let suspended: Result<Value?, SpaceError>
        do throws(SpaceError) {
            suspended = .success(try await wait.suspend())
        } catch {
            suspended = .failure(error)
        }
        return [blocked, suspended]
    }

    /// A look that is true at once ends the sleep before it begins.
    @Test func whatIsThereIsNotWaitedFor() async throws {
        try namespace.set("x", 1)
        let notes = Notes()
        for result in await both(wait(notes, sleeping: nil)) { #expect(try result.get() == 1) }
        #expect(notes.looks.withLock { $0 } == 2)
        #expect(notes.givenUp.withLock { $0 } == 0)
    }

    /// What is waited for ends the sleep.
    @Test(arguments: [true, false]) func whatComesEndsTheSleep(_ isBlocking: Bool) async throws {
        let notes = Notes()
        let wait = wait(notes, sleeping: nil)
        let waiting = Task.detached { () throws -> Value? in
            try isBlocking ? wait.block() : await wait.suspend()
        }
        #expect(try await eventually { try namespace.status().waiters.count == 1 })
        try namespace.set("x", 1)
        #expect(try await waiting.value == 1)
        #expect(notes.givenUp.withLock { $0 } == 0)
    }

    /// When a sleep's time has passed, the next step is taken.
    @Test func aSleepThatEndsIsFollowedByAStep() async throws {
        let notes = Notes()
        for result in await both(wait(notes, sleeping: .milliseconds(1))) { #expect(try result.get() == nil) }
        #expect(notes.looks.withLock { $0 } >= 6)
        #expect(notes.givenUp.withLock { $0 } == 0)
    }

    /// A wait that ends with an error gives up once.
    @Test func aWaitThatFailsGivesUp() async throws {
        let notes = Notes()
        for result in await both(wait(notes, sleeping: .zero, isFailing: true)) {
            #expect(throws: SpaceError.self) { try result.get() }
        }
        #expect(notes.givenUp.withLock { $0 } == 2)
    }

    /// A task that is cancelled while it sleeps gives up once.
    @Test func aCancelledWaitGivesUp() async throws {
        let notes = Notes()
        let wait = wait(notes, sleeping: nil)
        let waiting = Task.detached { () throws -> Value? in try await wait.suspend() }
        #expect(try await eventually { try namespace.status().waiters.count == 1 })
        waiting.cancel()
        let error = await #expect(throws: SpaceError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        #expect(notes.givenUp.withLock { $0 } == 1)
    }
}
