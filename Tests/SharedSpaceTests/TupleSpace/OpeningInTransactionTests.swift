import SharedSpace
import SpaceTestSupport
import Synchronization
import Testing

/// Opening handles within a transaction's body: if opening would wait for another thread, it is an error, because that
/// thread may wait for the transaction.
@Suite(.timeLimit(.minutes(5))) struct OpeningInTransactionTests {
    let root: TemporaryRoot
    /// A space with a time-out that a wait for another thread uses up.
    let space: Space

    init() throws {
        root = try TemporaryRoot()
        space = try Space(root: root.path, timeout: .seconds(30))
    }

    @Test func aHandleOfAnOpenNamespaceIsHadAtOnce() throws {
        let (jobs, others) = (try space.namespace("jobs"), try space.namespace("others"))
        try jobs.transaction { transaction in
            #expect(try space.namespace("jobs").name == "jobs")
            #expect(try space.namespace("jobs", owning: false).name == "jobs")
            #expect(try space.namespace("others").name == "others")
            try space.namespace("new").write(1)
            try transaction.write(1)
        }
        #expect(try jobs.count() == 1 && others.count() == 0)
        #expect(try jobs.verify() == [])
    }

    /// A thread that leaves the namespace waits for the transaction, and holds the namespace's entry meanwhile.
    @Test func whileAnotherThreadLeavesItIsRefused() async throws {
        try space.namespace("jobs").setPersistent(true)
        // If the other thread comes to the entry later than the body, the body gets its handle.
        var code: SpaceError.Code?
        for _ in 0..<50 where code == nil { code = try await openWhileLeaving() }
        #expect(code == .invalidArgument)
        #expect(try space.namespace("jobs").verify() == [])
    }

    /// Returns: The code of the error with which the body could not open the namespace, or `nil` if it could.
    private func openWhileLeaving() async throws -> SpaceError.Code? {
        let (space, isInBody) = (space, Flag())
        let jobs = try space.namespace("jobs")
        try jobs.write(0)
        // A claim that leaving has to return.
        _ = try jobs.claimIfExists(any(Int.self))?.detach()
        async let leaving: Void = onThread {
            if try eventually({ isInBody.isSet }) { try jobs.leave() }
        }
        let code = try await onThread { () -> SpaceError.Code? in
            try jobs.transaction { _ in
                isInBody.set()
                // Once the handle says that it is closed, the other thread has left, and waits for the end of this
                // body.
                guard try eventually({ errorCode { _ = try jobs.count() } == .closed }) else { return nil }
                return errorCode { _ = try space.namespace("jobs") }
            }
        }
        try await leaving
        return code
    }

    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }
}
