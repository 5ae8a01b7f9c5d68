import Glibc
import SpaceSystem
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SharedMutexTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func locksAndUnlocks() throws {
        let (page, mutex) = try folder.mutexPage()
        #expect(try mutex.tryLock() == .acquired)
        try mutex.unlock()
        #expect(try mutex.lock(until: .now.advanced(by: .zero)) == .acquired)
        try mutex.unlock()
        #expect(try mutex.lock(until: .now) == .acquired)
        try mutex.unlock()
        withExtendedLifetime(page) {}
    }

    @Test func refusesTheThreadThatHasIt() throws {
        let (page, mutex) = try folder.mutexPage()
        #expect(try mutex.tryLock() == .acquired)
        #expect(throws: Errno.deadlock) { try mutex.tryLock() }
        #expect(throws: Errno.deadlock) { try mutex.lock(until: .now.advanced(by: .seconds(20))) }
        #expect(throws: Errno.deadlock) { try mutex.lock(until: .distantFuture) }
        try mutex.unlock()
        #expect(throws: Errno.notPermitted) { try mutex.unlock() }
        withExtendedLifetime(page) {}
    }

    @Test func isHeldAgainstOtherProcesses() throws {
        let (page, mutex) = try folder.mutexPage()
        let holder = try Probe("hold-mutex", folder.path("page"))
        #expect(try holder.line() == "acquired")
        #expect(try mutex.tryLock() == .timedOut)
        #expect(try mutex.lock(until: .now) == .timedOut)
        #expect(throws: Errno.notPermitted) { try mutex.unlock() }
        try holder.order("unlock")
        #expect(try holder.line() == "unlocked")
        #expect(try mutex.tryLock() == .acquired)
        try mutex.unlock()
        withExtendedLifetime(page) {}
    }

    @Test func tellsOfAHolderThatWasKilled() throws {
        let (page, mutex) = try folder.mutexPage()
        let holder = try Probe("hold-mutex", folder.path("page"))
        #expect(try holder.line() == "acquired")
        try holder.killAndReap()
        #expect(try mutex.tryLock() == .abandoned)
        try mutex.markConsistent()
        try mutex.unlock()
        #expect(try mutex.tryLock() == .acquired)
        try mutex.unlock()
        withExtendedLifetime(page) {}
    }

    @Test func withoutRobustnessADeathBlocksForEver() throws {
        let page = try MappedFile(try folder.file("page", size: 4096), length: 4096)
        let mutex = page.base.assumingMemoryBound(to: pthread_mutex_t.self)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_setpshared(&attributes, CInt(PTHREAD_PROCESS_SHARED))
        pthread_mutex_init(mutex, &attributes)
        let holder = try Probe("hold-plain-mutex", folder.path("page"))
        #expect(try holder.line() == "acquired")
        try holder.killAndReap()
        #expect(pthread_mutex_trylock(mutex) == EBUSY)
    }

    @Test func wakesAWaiterWhenTheHolderIsKilled() throws {
        let (page, _) = try folder.mutexPage()
        let holder = try Probe("hold-mutex", folder.path("page"))
        #expect(try holder.line() == "acquired")
        let waiter = try Probe("wait-mutex", folder.path("page"))
        #expect(try waiter.line() == "waiting")
        #expect(try eventually { ProcessIdentity.state(of: waiter.pid) == "S" })
        try holder.killAndReap()
        #expect(try waiter.line() == "abandoned")
        withExtendedLifetime(page) {}
    }

    @Test func isAbandonedAgainWhenTheRecovererDiesToo() throws {
        let (page, mutex) = try folder.mutexPage()
        for expected in ["acquired", "abandoned"] {
            let holder = try Probe("hold-mutex", folder.path("page"))
            #expect(try holder.line() == expected)
            try holder.killAndReap()
        }
        #expect(try mutex.tryLock() == .abandoned)
        try mutex.markConsistent()
        try mutex.unlock()
        withExtendedLifetime(page) {}
    }

    @Test func isLostWhenUnlockedWithoutRecovery() throws {
        let (page, mutex) = try folder.mutexPage()
        let holder = try Probe("hold-mutex", folder.path("page"))
        #expect(try holder.line() == "acquired")
        try holder.killAndReap()
        #expect(try mutex.tryLock() == .abandoned)
        try mutex.unlock()
        #expect(throws: Errno.notRecoverable) { try mutex.tryLock() }
        #expect(throws: Errno.notRecoverable) { try mutex.lock(until: .now.advanced(by: .seconds(20))) }
        let other = try Probe("hold-mutex", folder.path("page"))
        #expect(try other.line() == "error \(ENOTRECOVERABLE)", "one who finds it lost must leave it so for others")
        withExtendedLifetime(page) {}
    }

    @Test func timesOutBehindAStoppedHolder() throws {
        let (page, mutex) = try folder.mutexPage()
        let holder = try Probe("hold-mutex", folder.path("page"))
        #expect(try holder.line() == "acquired")
        try holder.stop()
        #expect(ProcessIdentity.state(of: holder.pid) == "T")
        let deadline = MonotonicInstant.now.advanced(by: .milliseconds(50))
        #expect(try mutex.lock(until: deadline) == .timedOut)
        #expect(deadline.hasPassed, "gave up before its time")
        #expect(try mutex.lock(until: .now.advanced(by: .milliseconds(1))) == .timedOut)
        #expect(ProcFS.process(ofThread: mutex.owner) == holder.pid)
        holder.resume()
        try holder.order("unlock")
        #expect(try mutex.lock(until: .now.advanced(by: Probe.watchdog)) == .acquired)
        #expect(ProcFS.process(ofThread: mutex.owner) == getpid())
        try mutex.unlock()
        #expect(mutex.owner == 0 && ProcFS.process(ofThread: 0) == nil)
        withExtendedLifetime(page) {}
    }

    @Test func refusesMemoryThatIsNotAligned() throws {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 16)
        defer { memory.deallocate() }
        #expect(throws: Errno.invalidArgument) { try SharedMutex(at: memory + 1).initialise() }
    }

    @Test func namesItsLayout() {
        #expect(SharedMutex.size == MemoryLayout<pthread_mutex_t>.size)
        #expect(SharedMutex.abi == 1 << 16 | UInt32(SharedMutex.size))
    }
}
