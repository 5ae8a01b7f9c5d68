import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import SystemPackage
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Locks held by a thread that no longer exists, and of whose death the kernel has told no waiter.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(2))) struct OrphanedLockTests {
    private static let patience = Duration.milliseconds(200)
    let root: TemporaryRoot
    let space: Space

    init() throws {
        root = try SpaceTest.root()
        space = try Space(root: root.path, timeout: Self.patience)
    }

    /// Takes a lock on a thread that ends as if its list of robust mutexes were broken.
    private func orphan(_ lock: ProcessLock) throws -> Int32 {
        let thread = Atomic<Int32>(0)
        try DetachedThread.start {
            let isHeld = (try? lock.acquire(timeout: .seconds(1))) != nil && (try? RobustList.forget()) != nil
            thread.store(isHeld ? lock.mutex.owner : -1, ordering: .releasing)
        }
        _ = try eventually { thread.load(ordering: .acquiring) != 0 }
        let result = thread.load(ordering: .acquiring)
        guard result > 0 else { throw TestFailure("the lock was not had") }
        #expect(try eventually { ProcFS.isGone(thread: result) })
        #expect(lock.mutex.owner == result, "the kernel has told of its death: nothing is shown here")
        return result
    }

    @Test func anOrphanedGateIsTakenOver() throws {
        let namespace = try SpaceTest.namespace("n", timeout: Self.patience)
        try namespace.write("kept", 1)
        _ = try orphan(namespace.core.control.gate)
        try namespace.write("job", 2)
        #expect(try namespace.takeIfExists("kept", 1) != nil)
        // The gate is an ordinary lock again, between processes too.
        let other = try Agent(root, "n")
        #expect(try other.run("count") == "1")
        try other.run("write [\"job\", 3]")
        #expect(try namespace.count() == 2)
    }

    @Test func manyWhoWaitForAnOrphanedGateAllHaveItInTurn() async throws {
        let namespace = try SpaceTest.namespace("n", timeout: Self.patience)
        _ = try orphan(namespace.core.control.gate)
        let failures = await together(8) { number in
            // Each writer may get the error once, while another takes the gate over.
            while true {
                do throws(SpaceError) {
                    try namespace.write("job", number)
                    return
                } catch {
                    guard error.code == .holderBusy else { throw error }
                }
            }
        }
        #expect(failures == [])
        #expect(try namespace.count() == 8)
    }

    @Test func anOrphanedDoorIsTakenOver() throws {
        let namespace = try space.namespace("n", options: NamespaceOptions(isPersistent: true))
        try namespace.write("job", 1)
        _ = try orphan(namespace.core.control.door)
        let other = try Agent()
        try other.run("open \(root.path) n timeout=200")
        #expect(try other.run("count") == "1")
        _ = try orphan(namespace.core.control.door)
        try namespace.leave()
        #expect(root.entries(of: "n/sessions").count == 1)
    }

    @Test func anOrphanedGateIsNoObstacleToOpening() throws {
        let namespace = try space.namespace("n")
        try namespace.write("job", 1)
        let thread = try orphan(namespace.core.control.gate)
        // With the safeguard left out, the gate stays orphaned.
        let refused = try Agent()
        try refused.run("leave-out orphans")
        let refusal = try refused.ask("open \(root.path) n timeout=200")
        #expect(refusal.hasPrefix("error holderBusy 0 "))
        #expect(refusal.contains("the gate is held by the thread \(thread), which doesn't exist any more"))
        let other = try Agent()
        try other.run("open \(root.path) n timeout=200")
        #expect(try other.run("take [\"job\", 1]") == #"["job",1]"#)
    }

    @Test func orphanedLocksStopNoDeletion() throws {
        let namespace = try space.namespace("n", options: NamespaceOptions(isPersistent: true))
        try namespace.write("job", 1)
        _ = try orphan(namespace.core.control.gate)
        _ = try orphan(namespace.core.control.door)
        try space.delete("n")
        #expect(try space.namespaceNames() == [])
        #expect(try refusal { try namespace.write("job", 2) }.code == .namespaceDeleted)
    }

    /// A writer that dies in a transaction holds LMDB's lock too, for which LMDB waits without a bound.
    @Test func aWriterWhoseDeathIsNotToldOfStopsNoOtherWriter() throws {
        let dying = try Agent(root, "n", "persistent=1")
        try dying.run("write [\"kept\", 1]")
        let living = try Agent(root, "n", "timeout=300")
        try dying.run("forget-robust-list")
        try dying.run("arm kill begun")
        try dying.send("set half 1")
        #expect(try dying.ended() == .killed(by: SIGKILL))
        try living.run("write [\"job\", 1]")
        #expect(try living.run("count") == "2")
        let opened = try space.namespace("n")
        #expect(try opened.takeIfExists("job", 1) != nil)
        #expect(try opened.verify() == [])
    }

    /// The same, if the next process has yet to open the namespace.
    @Test func aWriterWhoseDeathIsNotToldOfStopsNoOpener() throws {
        let dying = try Agent(root, "n", "persistent=1")
        try dying.run("forget-robust-list")
        try dying.run("arm kill begun")
        try dying.send("set half 1")
        #expect(try dying.ended() == .killed(by: SIGKILL))
        let newcomer = try Agent()
        try newcomer.run("open \(root.path) n timeout=300")
        try newcomer.run("write [\"job\", 1]")
        #expect(try newcomer.run("count") == "1")
        #expect(try newcomer.run("verify") == "")
    }

    /// The number of a thread was written over a free lock.
    @Test func aLockThatWasOverwrittenIsTakenOver() throws {
        let namespace = try space.namespace("n")
        let thread: Int32 = 0x3FFF_FFF0
        namespace.core.control.gate.mutex.overwriteOwner(thread)
        #expect(namespace.core.control.gate.mutex.owner == thread)
        try namespace.write("job", 1)
        #expect(try namespace.count() == 1)
    }

    /// If another process stands in the way of taking the lock over, the error names the thread that is gone; deleting
    /// works all the same.
    @Test func theThreadThatIsGoneIsNamed() throws {
        let namespace = try space.namespace("n", options: NamespaceOptions(isPersistent: true))
        let thread = try orphan(namespace.core.control.gate)
        let control = try OwnedDescriptor.open("\(root.path)/n/control", flags: O_RDWR)
        #expect(try FileLock.tryExclusive(control.raw, byte: 1 << 61 + 1))
        let refused = try refusal { try namespace.write("job", 1) }
        #expect(refused.code == .holderBusy)
        #expect("\(refused)".contains("the gate is held by the thread \(thread), which doesn't exist any more"))
        try space.delete("n")
        #expect(try space.namespaceNames() == [])
    }

    @Test func aLivingHolderIsNotTouched() throws {
        let namespace = try space.namespace("n")
        let holder = try Agent(root, "n")
        try holder.run("arm stop gateTaken")
        try holder.send("write [\"job\", 1]")
        try holder.waitUntilStopped()
        #expect(try refusal { try namespace.write("job", 2) }.code == .holderStopped)
        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok") == true)
        #expect(try namespace.count() == 1)
    }
}

extension SharedMutex {
    fileprivate func overwriteOwner(_ thread: Int32) {
        withUnsafeBytes(of: self) { $0.load(as: UnsafeMutableRawPointer.self) }.storeBytes(of: thread, as: Int32.self)
    }
}

private enum RobustList {
    /// Gives the kernel an empty list in place of this thread's, which ends soon (get_robust_list(2)).
    static func forget() throws {
        guard let symbol = dlsym(nil, "syscall") else { throw TestFailure("no syscall in libc") }
        let call = unsafeBitCast(symbol, to: (@convention(c) (CLong, UnsafeMutableRawPointer, Int) -> CLong).self)
        // struct robust_list_head: the first entry, which is the head itself in an empty list; an offset; none pending.
        let head = UnsafeMutableRawPointer.allocate(byteCount: 24, alignment: 8)
        head.initializeMemory(as: UInt8.self, repeating: 0, count: 24)
        head.storeBytes(of: UInt(bitPattern: head), as: UInt.self)
        #if arch(x86_64)
        let number = 273
        #else
        let number = 99
        #endif
        guard call(number, head, 24) == 0 else { throw TestFailure("set_robust_list: errno \(errno)") }
    }
}
