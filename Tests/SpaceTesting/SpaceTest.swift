package import SharedSpace
package import SpaceTestSupport
import Synchronization
package import Testing

/// A root, or one in each folder, and the namespaces of one test, or of one case of a test with arguments, in a suite
/// with the trait `spaceTest`.
///
/// All of it stays until the test has ended and its suite's value is gone; then each namespace that is still there must
/// pass the full check. So a test doesn't use this for a namespace that it damages, or whose last owner is to leave: it
/// makes a `TemporaryRoot` of its own.
package final class SpaceTest: Sendable {
    private struct Made {
        var roots: [String: TemporaryRoot] = [:]
        var namespaces: [(name: String, handle: Namespace)] = []
    }

    private let made = Mutex(Made())

    @TaskLocal private static var current: SpaceTest?

    private static func running() throws -> SpaceTest {
        guard let current else { throw TestFailure("the suite lacks the trait spaceTest") }
        return current
    }

    // MARK: What a test asks for

    /// The test's root in a folder: the same at each call.
    package static func root(in folder: String = "/dev/shm") throws -> TemporaryRoot {
        try running().made.withLock { made in
            if let root = made.roots[folder] { return root }
            let root = try TemporaryRoot(in: folder)
            made.roots[folder] = root
            return root
        }
    }

    /// The test's root in the folder where namespaces of a mode belong.
    package static func root(for mode: StorageMode) throws -> TemporaryRoot { try root(in: mode.folder) }

    /// Opens a namespace in the test's root, or in the root of its mode if one is given, and creates it if necessary.
    package static func namespace(
        _ mode: StorageMode = .fast,
        _ name: String = "n",
        byteLimit: Int? = nil
    ) throws -> Namespace {
        try namespace(name, options: NamespaceOptions(mode: mode, byteLimit: byteLimit))
    }

    /// Opens a namespace in the test's root, and creates it if necessary.
    package static func namespace(
        _ name: String,
        options: NamespaceOptions = NamespaceOptions(),
        timeout: Duration? = nil
    ) throws -> Namespace {
        let root = try root(for: options.mode ?? .fast)
        let space = try timeout.map { try Space(root: root.path, timeout: $0) } ?? root.space
        let handle = try space.namespace(name, options: options)
        try running().made.withLock { $0.namespaces.append((name, handle)) }
        return handle
    }

    // MARK: Its end

    /// Runs a test with a root of its own, and checks the namespaces that it leaves, however it ends.
    fileprivate static func run(
        _ test: Test,
        _ body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let spaceTest = SpaceTest()
        defer { spaceTest.check(test.sourceLocation) }
        try await $current.withValue(spaceTest) {
            try await withTaskExecutorPreference(TestThreads.shared) { try await body() }
        }
    }

    private func check(_ location: SourceLocation) {
        for (name, handle) in made.withLock({ $0.namespaces }) {
            do throws(SpaceError) {
                let damage = try handle.verify()
                guard !damage.isEmpty else { continue }
                Issue.record("\(name) is damaged: \(damage)", sourceLocation: location)
            } catch {
                // The test left the namespace, or deleted it.
                if error.code == .closed || error.code == .namespaceDeleted { continue }
                Issue.record("\(name) can't be checked: \(error)", sourceLocation: location)
            }
        }
    }
}

/// Gives each test of a suite, and each case of a test with arguments, a `SpaceTest`, and a thread that it may block.
package struct SpaceTestTrait: TestTrait, SuiteTrait, TestScoping {
    package init() {}

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await SpaceTest.run(test, function)
    }
}

extension Trait where Self == SpaceTestTrait {
    /// Tests in roots of their own, whose namespaces must pass the full check when the test has ended.
    package static var spaceTest: Self { Self() }
}
