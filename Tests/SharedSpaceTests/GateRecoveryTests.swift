import SharedSpace
import SpaceSystem
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
        #expect(control.gateNeedsRecovery.load() == 0, "the new namespace's own repair")
        control.gateNeedsRecovery.store(1)
        try namespace.write("job", 2)
        #expect(control.gateNeedsRecovery.load() == 0)
        #expect(try namespace.readAll() == [["kept", 1], ["job", 2]])
    }
}
