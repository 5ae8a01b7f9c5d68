import Glibc
import Synchronization

/// Named places in the library at which a test can have its process killed or stopped, or can run code of its own.
///
/// A place is armed only by `arm`, which tests call in processes of their own. An unarmed place costs one relaxed load.
package enum CrashPoint: String, CaseIterable, Sendable {
    // Locking the door or the gate: the process holds the lock, and its PID is not yet, or no longer, beside the lock.
    case lockUnnamed, lockForgotten
    // Creating.
    case cradleMade, controlMade, sessionMade, dataMade, beforePublishing, published
    // Opening and enrolling.
    case doorTaken, joined, dataOpened, firstReader
    // Leaving.
    case sessionRemoved
    // Reaping.
    case graveGate, markedDead, buried, beforeDeleting
    // Writing.
    case gateTaken, begun, beforeLogging, logged, beforeCommit, afterCommit, granted, gateReleased, woken, rung
    // Giving back disk space: the number is already lower, and the blocks are still there.
    case reserveLowered
    // Writing, taking and claiming in the near end: before and after the store that commits, and before a flush moves
    // the head.
    case nearFilled, nearWritten, nearTaking, nearTaken, nearClaiming, nearClaimed, nearStored
    // Marking what is taken or claimed in LMDB: before and after the store that commits.
    case marking, marked
    // Waiting for a place in the near end: after a writer has noted that it is about to sleep, and after the word on
    // which it sleeps was raised; both under the gate.
    case placeAwaited, placeRaised
    // Several machines: a process has sent an operation to its daemon, and has no answer yet.
    case operationSent
    // Waiting.
    case slotFilling, slotCounted, slotPublished, grantSeen, rearmed, lookedInVain, granting
    // Granting: the start of a line was raised, perhaps too far.
    case startRaised
    // Switching the measuring of latencies.
    case latencyDrafted, latencyMade, latencyEnded
    // Reading.
    case snapshotTaken
    // Watching: an iterator has found nothing ready, and has not yet read further.
    case nothingReady
    // Reporting deadlocks: one was found, and is not reported yet.
    case deadlockFound

    /// What happens at an armed place.
    package enum Action: Sendable {
        /// The process gets SIGKILL.
        case kill
        /// The process gets SIGSTOP, and continues after SIGCONT.
        case stop
        /// The thread that reaches the place runs this closure, and then continues.
        case run(@Sendable () -> Void)
    }

    private struct Armed: Sendable {
        var point: CrashPoint
        var countdown: Int
        var action: Action
    }

    private static let isArmed = Atomic<Bool>(false)
    private static let armed = Mutex<Armed?>(nil)

    /// Arms a place: the action happens when the process reaches the place for the `count`-th time.
    package static func arm(_ point: CrashPoint, count: Int = 1, action: Action = .kill) {
        armed.withLock { $0 = Armed(point: point, countdown: count, action: action) }
        isArmed.store(true, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    package static func reach(_ point: CrashPoint) {
        if isArmed.load(ordering: .relaxed) { strike(point) }
    }

    private static func strike(_ point: CrashPoint) {
        let action = armed.withLock { armed -> Action? in
            guard var current = armed, current.point == point else { return nil }
            current.countdown -= 1
            armed = current.countdown > 0 ? current : nil
            return current.countdown > 0 ? nil : current.action
        }
        switch action {
        case .kill: raise(SIGKILL)
        case .stop: raise(SIGSTOP)
        case .run(let body): body()
        case nil: break
        }
    }
}
