import Glibc
package import LMDB
import SpaceSystem
import Synchronization

extension Environment {
    /// Gives back the places, and with them the pages, of readers that were killed in their snapshots.
    package func forgetDeadReaders() throws(LMDBError) {
        if Safeguard.deadReaders.stands { _ = try checkReaders() }
    }
}

/// The readers of a namespace in this process.
///
/// Guarantees: a process has at most `capacity` readers in a namespace, because all processes share 2,048 slots. A thread
/// that finds all of them lent waits until one comes back. At most `mostIdle` readers stay when a crowd has gone: a
/// reader beyond that is ended, which gives its slot back without a lock (`MDB_NOTLS`).
///
/// A new reader needs the gate, and most snapshots last microseconds: so beyond `mostIdle` a thread first waits for a
/// reader of another thread.
///
/// Two kinds of threads may exceed the capacity, so that no thread waits for itself: the holder of the gate, for which a
/// thread with a reader may be waiting, and a thread that has waited for a second, which may hold a reader itself.
package final class ReaderPool: Sendable {
    static let capacity = 64
    /// As many as the processors use at once; few enough for hundreds of processes.
    static let mostIdle = min(32, max(4, 2 * sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    private static let patienceBeforeGrowing = Duration.milliseconds(5)
    private static let patience = Duration.seconds(1)

    private struct State {
        var idle: [Reader] = []
        /// Idle, lent, and being made.
        var count = 0
        var waiting = 0
    }

    private let state = Mutex(State())
    /// Raised with every reader or place that comes back while a thread waits for one.
    private let returned = FutexWord()

    /// How many readers there are.
    var count: Int { state.withLock { $0.count } }

    /// An idle reader, if there is one.
    @inline(__always)
    func take() -> Reader? { state.withLock { $0.idle.popLast() } }

    /// A reader, where none was idle.
    ///
    /// - Parameter mayWait: Whether the thread may wait for another thread's reader.
    /// - Returns: `nil` when the caller is to make one: its place is counted, and the caller calls `put` or `drop` for it.
    func takeOrReserve(mayWait: Bool) -> Reader? {
        let start = mayWait ? MonotonicInstant.now : nil
        var isWaiting = false
        while true {
            let most = most(since: start)
            var (reader, heard) = (Reader?.none, UInt32?.none)
            state.withLock { state in
                if isWaiting { state.waiting -= 1 }
                reader = state.idle.popLast()
                if reader != nil { return }
                if state.count < most {
                    state.count += 1
                } else {
                    state.waiting += 1
                    // Here, not later: a reader that comes back from now on moves the word.
                    heard = returned.value.load()
                }
            }
            guard let heard, let start else { return reader }
            isWaiting = true
            let patience = most < Self.capacity ? Self.patienceBeforeGrowing : Self.patience
            // An error could only be a bad address; the loop looks again all the same.
            _ = try? returned.futex.wait(while: heard, until: start.advanced(by: patience))
        }
    }

    /// How many readers there may be for a thread that has waited since `start`; `nil`: it must not wait.
    private func most(since start: MonotonicInstant?) -> Int {
        guard let start else { return .max }
        let waited = MonotonicInstant.now.duration(since: start)
        return waited < Self.patienceBeforeGrowing ? Self.mostIdle : waited < Self.patience ? Self.capacity : .max
    }

    /// Takes a reader back, which is reset.
    @inline(__always)
    func put(_ reader: Reader) {
        let isAwaited = state.withLock { state in
            state.idle.append(reader)
            if state.waiting > 0 { return true }
            let surplus = state.idle.count - Self.mostIdle
            if surplus > 0 {
                state.idle.removeLast(surplus)
                state.count -= surplus
            }
            return false
        }
        if isAwaited { wakeOne() }
    }

    /// Enters the reader that the namespace was opened with.
    package func add(_ reader: Reader) {
        state.withLock { state in
            state.idle.append(reader)
            state.count += 1
        }
    }

    /// Gives back the place of a reader that could not be made, or that has failed.
    func drop() {
        let isAwaited = state.withLock { state in
            state.count -= 1
            return state.waiting > 0
        }
        if isAwaited { wakeOne() }
    }

    func removeAll() {
        state.withLock { state in
            state.count -= state.idle.count
            state.idle.removeAll()
        }
    }

    private func wakeOne() {
        returned.value.add(1)
        returned.futex.wake(1)
    }
}
