import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Several roots of this machine, each with a daemon, that share a store in memory: machines without a
/// network.
///
/// The processes are real, and end when this value goes. A lease lasts longer than any test, so that a slow machine keeps it;
/// that of a killed daemon ends at once.
final class TestCluster {
    /// A root and its daemon.
    final class Machine {
        let root: TemporaryRoot
        let runner: CommandRunner
        fileprivate(set) var daemon: RunningCommand?

        fileprivate init() throws {
            root = try TemporaryRoot()
            runner = CommandRunner(root: root.path)
        }

        /// Runs `space` in the root to its end, and expects status 0.
        @discardableResult
        func space(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> CommandResult {
            try space(words, sourceLocation: sourceLocation)
        }

        @discardableResult
        func space(_ words: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> CommandResult {
            let result = try runner.start("space", words, environment: ["SHARED_SPACE_OWNER": "\(getpid())"]).finish()
            #expect(result.ending == .exited(0), "\(words): \(result.errors)", sourceLocation: sourceLocation)
            return result
        }

        /// What `space machines` prints, for a test that asks again and again: the daemon may not answer in time.
        func machines(_ options: String...) throws -> String {
            try runner.start("space", ["machines"] + options).finish().output
        }
    }

    let machines: [Machine]
    private let folder: TemporaryRoot
    private let storeProcess: RunningCommand
    /// The socket of the store.
    var store: String { "\(folder.path)/store" }

    /// - Parameters:
    ///   - count: How many machines there are.
    ///   - lease: How long a machine lives without word from its daemon.
    /// - Throws: A failure of the test, if a daemon or the store does not start.
    init(machines count: Int = 2, lease: Duration = .seconds(60)) throws {
        options = ["--lease", "\(lease.components.seconds)s", "--grace", "2s"]
        folder = try TemporaryRoot()
        storeProcess = try CommandRunner(root: folder.path).start("space-test-store", ["\(folder.path)/store"])
        guard try storeProcess.readLine() == "ready" else { throw TestFailure("the store does not start") }
        machines = try (0..<count).map { _ in try Machine() }
        for number in machines.indices { try start(number) }
    }

    deinit {
        for machine in machines { machine.daemon?.signal(SIGKILL) }
        storeProcess.signal(SIGKILL)
    }

    subscript(number: Int) -> Machine { machines[number] }

    // MARK: Daemons

    private let options: [String]

    /// Starts a machine's daemon, and returns when it has joined.
    func start(_ number: Int) throws {
        let daemon = try machines[number].runner.start(
            "space-test-daemon",
            ["join", "--etcd", store, "--name", "m\(number)"] + options
        )
        machines[number].daemon = daemon
        guard try daemon.readLine() == "joined m\(number)" else {
            throw TestFailure("a daemon does not join: \(try daemon.finish().errors)")
        }
    }

    /// Ends a machine's daemon by a signal.
    ///
    /// - Parameters:
    ///   - number: The machine's number.
    ///   - signal: The signal.
    ///   - keepsLease: Whether the lease of a killed one lasts until its time is over.
    /// - Throws: A failure of the test, if no daemon runs.
    func end(_ number: Int, by signal: CInt = SIGTERM, keepsLease: Bool = false) throws {
        let daemon = try #require(machines[number].daemon)
        daemon.signal(signal)
        #expect(try daemon.wait() == .signalled(signal))
        machines[number].daemon = nil
        if signal == SIGKILL, !keepsLease { try endLease(of: number) }
    }

    /// Ends the lease of a machine, as if its time were over.
    func endLease(of number: Int) throws { try tell("end m\(number)") }

    // MARK: The store

    /// Does something to the store; space-test-store says what there is.
    func tell(_ line: String) throws {
        try storeProcess.send(line + "\n")
        let answer = try storeProcess.readLine()
        #expect(answer == "done", "\(line): \(answer ?? "the store has ended")")
    }

    /// Stops the store: it takes requests and answers none, until ``continueStore()``.
    func stopStore() throws { try storeProcess.stop() }

    /// Lets the store go on.
    func continueStore() { storeProcess.signal(SIGCONT) }

    /// Asks the store for a number; space-test-store says for which.
    func ask(_ line: String) throws -> Int {
        try storeProcess.send(line + "\n")
        let answer = try storeProcess.readLine()
        guard let number = answer.flatMap({ Int($0) }) else {
            throw TestFailure("\(line): \(answer ?? "the store has ended")")
        }
        return number
    }

    // MARK: Namespaces

    /// Makes a replicated namespace on the first machine.
    func namespaceOfFirst(_ name: String = "n", isPersistent: Bool = true) throws -> Namespace {
        let options = NamespaceOptions(isPersistent: isPersistent, isReplicated: true)
        return try machines[0].root.space.namespace(name, options: options)
    }

    /// Makes a replicated namespace, and opens it on each machine.
    ///
    /// When this returns, each machine takes part: later entries are those of the test's own changes.
    func namespaces(_ name: String = "n", isPersistent: Bool = true) throws -> [Namespace] {
        let first = try namespaceOfFirst(name, isPersistent: isPersistent)
        let all = [first] + (try machines.dropFirst().map { try Self.open(name, in: $0) })
        // Only a machine that takes part can have a transaction, even an empty one.
        for namespace in all { try namespace.repeatableTransaction { _ in } }
        return all
    }

    /// Starts a process of the second machine that has claimed the tuple `["job", 1]`, which the first machine writes to the
    /// namespace `n`.
    func claimant(
        of namespaces: [Namespace],
        _ options: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Agent {
        try namespaces[0].write("job", 1)
        try namespaces[1].synchronize()
        let claimant = try Agent(machines[1].root, "n", options)
        #expect(try claimant.ask("claim [\"job\", 1]").hasPrefix("ok"), sourceLocation: sourceLocation)
        return claimant
    }

    /// Opens a namespace when it is there.
    static func open(_ name: String, in machine: Machine) throws -> Namespace {
        var found: Namespace?
        let isThere = try eventually {
            do {
                found = try machine.root.space.existingNamespace(name)
                return true
            } catch let error as SpaceError where error.code == .namespaceNotFound { return false }
        }
        guard isThere, let found else { throw TestFailure("\(name) does not come to \(machine.root.path)") }
        return found
    }

    /// Waits until all machines have what was written, compares their tables byte for byte, and checks each.
    func expectSame(_ namespaces: [Namespace], _ when: String = "", sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        var contents: [NamespaceContents] = []
        let isComparable = try eventually {
            for namespace in namespaces { try namespace.synchronize() }
            contents = try namespaces.map { try NamespaceContents(of: $0) }
            return Set(contents.map(\.entry)).count == 1
        }
        #expect(isComparable, sourceLocation: sourceLocation)
        for (number, other) in contents.enumerated().dropFirst() {
            let differences = contents[0].differences(from: other)
            #expect(differences == [], "\(when), machine \(number)", sourceLocation: sourceLocation)
        }
        for namespace in namespaces { #expect(try namespace.verify() == [], sourceLocation: sourceLocation) }
    }
}
