import SpaceTestSupport
import Testing

/// Gives a test a root of its own, and checks at its end that every namespace left there passes the full check.
func withRoot(_ body: (CommandRunner) throws -> Void) throws {
    let root = try TemporaryRoot()
    let runner = CommandRunner(root: root.path)
    try body(runner)
    let check = try runner.dump("--check", "--all")
    #expect(check.ending == .exited(0), "\(check.output)\(check.errors)")
    #expect(check.output == "")
    withExtendedLifetime(root) {}
}

extension CommandRunner {
    /// Returns the tuples of a namespace, one a line.
    func tuples(_ namespace: String, _ template: String = "\"?\"") throws -> [String] {
        let result = try space("read", namespace, "--all", template)
        guard result.status != 1 else { return [] }
        #expect(result.ending == .exited(0), "\(result.errors)")
        return result.lines
    }
}
