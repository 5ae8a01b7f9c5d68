package import Testing

/// Runs each test of a suite, and each case of a test with arguments, on a thread that it may block.
package struct BlockingTrait: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(TestThreads.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// Tests that wait for other processes, or that block their threads for another reason.
    package static var blocking: Self { Self() }
}
