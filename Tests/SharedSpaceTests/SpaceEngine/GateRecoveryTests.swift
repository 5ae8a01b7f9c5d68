import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// The repair of what a killed holder of the gate may have left.
@Suite(.spaceTest, .timeLimit(.minutes(2))) struct GateRecoveryTests {
    /// The repair ends with the waking of all waiters and with the change signal.
    ///
    /// If the mark stayed, each later write would repair again.
    @Test("The first write after the kill of a holder repairs to the end", arguments: StorageMode.allCases)
    func isDoneOnce(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        try namespace.write("kept", 1)
        let control = namespace.core.control
        #expect(control.gateNeedsRecovery.load() == 0)
        control.gateNeedsRecovery.store(1)
        try namespace.write("job", 2)
        #expect(control.gateNeedsRecovery.load() == 0)
        #expect(try namespace.readAll() == [["kept", 1], ["job", 2]])
    }

    /// Each recovery wakes all waiters, so the first write of a new namespace must not have one to make.
    @Test("The first tuple goes to the older of two takers, and rings for no other", arguments: StorageMode.allCases)
    func theOldestGetsTheFirst(_ mode: StorageMode) async throws {
        for round in 0..<10 {
            let namespace = try SpaceTest.namespace(mode, "n\(round)")
            #expect(namespace.core.control.gateNeedsRecovery.load() == 0)
            async let older = namespace.take("job", any(Int.self), timeout: watchdog)
            #expect(try await eventually { try namespace.status().waiters.count == 1 })
            async let younger = namespace.take("job", any(Int.self), timeout: watchdog)
            #expect(try await eventually { try namespace.status().waiters.count == 2 })
            let slots = namespace.core.slots
            let last = try #require(
                slots.range.map { slots.slot($0) }.filter { $0.current.state == .active }
                    .max { $0.ticket.load() < $1.ticket.load() }
            )
            let before = last.wakeWord.load()
            try namespace.write("job", 1)
            #expect(try await older?.1 == 1, "\(mode), round \(round)")
            #expect(!WakeWord(last.wakeWord).isRung(since: before))
            try namespace.write("job", 2)
            #expect(try await younger?.1 == 2)
        }
    }
}
