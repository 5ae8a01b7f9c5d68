import Glibc
package import LMDB
import SpaceSystem
import Synchronization

extension Environment {
    /// Frees the slots of readers that were killed in their snapshots, and with them the pages that they pinned.
    package func forgetDeadReaders() throws(LMDBError) {
        if Safeguard.deadReaders.stands { _ = try checkReaders() }
    }
}

/// The readers of a namespace in this process.
///
/// Guarantees: a process has at most `capacity` readers in a namespace, because all processes share 2,048 slots. If all
/// readers are lent, a thread waits until one comes back. After many threads have read at once, at most `mostIdle`
/// readers stay: each reader beyond that is ended, which gives its slot back without a lock (`MDB_NOTLS`).
///
/// A new reader needs the gate, and most snapshots last microseconds. So beyond `mostIdle`, a thread first waits for
/// another thread's reader.
///
/// Two kinds of threads may exceed the capacity, so that no thread waits for itself: the holder of the gate, for which
/// a thread with a reader may be waiting, and a thread that has waited for a second, which may hold a reader itself.
package final class ReaderPool: Sendable {
    static let capacity = 64
    /// As many as the processors use at once, and few enough for hundreds of processes.
    static let mostIdle = min(32, max(4, 2 * sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    private static let patienceBeforeGrowing = Duration.milliseconds(5)
    private static let patience = Duration.seconds(1)

    private struct State {
        var idle: [Reader] = []
        /// The number of readers that are idle, lent, or being made.
        var count = 0
        var waiting = 0
    }

    private let state = Mutex(State())
    /// Raised with every reader or place that comes back while a thread waits for one.
    private let returned = FutexWord()

    /// How many readers there are.
    var count: Int { state.withLock { $0.count } }

    /// Takes an idle reader, if there is one.
    @inline(__always)
    func take() -> Reader? { state.withLock { $0.idle.popLast() } }

    /// Takes a reader when none was idle, or reserves a place for a new one.
    ///
    /// - Parameter mayWait: Whether the thread may wait for another thread's reader.
    /// - Returns: `nil` if the caller has to make a reader. Its place is counted, and the caller calls `put` or `drop`
    ///   for it.
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
                    // The word is read here, not later, because a reader that comes back from now on changes it.
                    heard = returned.value.load()
                }
            }
            guard let heard, let start else { return reader }
            isWaiting = true
            let patience = most < Self.capacity ? Self.patienceBeforeGrowing : Self.patience
            // The only error could be a bad address; the loop looks again in that case too.
            _ = try? returned.futex.wait(while: heard, until: start.advanced(by: patience))
        }
    }

    /// How many readers there may be, for a thread that has waited since `start`; `nil` means that it must not wait.
    private func most(since start: MonotonicInstant?) -> Int {
        guard let start else { return .max }
        let waited = MonotonicInstant.now.duration(since: start)
        return waited < Self.patienceBeforeGrowing ? Self.mostIdle : waited < Self.patience ? Self.capacity : .max
    }

    /// Takes back a reader, which was reset.
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

    /// Adds the reader with which the namespace was opened.
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
