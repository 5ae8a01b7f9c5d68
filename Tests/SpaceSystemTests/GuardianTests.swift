import Testing

/// Programs under a guardian, started by a real other process.
@Suite("Guardians", .timeLimit(.minutes(1)))
struct GuardianTests {
    @Test("A signal to the group that comes before the program exists is known to be missed")
    func missedSignal() throws {
        let probe = try Probe("missed-signal", "before")
        #expect(try probe.line() == "missed: true")
        // The program ends by the SIGINT that was passed on, although it went to the whole group.
        #expect(try probe.line() == "status: 130")
    }

    @Test("A signal to the group is not passed on to a program in the group")
    func groupSignal() throws {
        let probe = try Probe("missed-signal", "never")
        #expect(try probe.line() == "missed: false")
        #expect(try probe.line() == "status: 143")
    }
}
