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
///
/// No lock is taken, because a lock's kernel hands it from sleeper to sleeper while thousands of threads want it, and
/// each of these steps costs a switch of threads. A reader has a place from its first return to its end. While it is
/// idle, the place's bit is set in `idle`:
///
///     put:   the first time, claim a free place and store the reader there → set its bit → wake a waiting thread
///     take:  clear a bit that is set → the reader in its place is this thread's
///     drop:  free the place of a reader that was taken
///
/// When the process has left the namespace, the pool is closed: each reader that comes back ends. When none is left,
/// the count of readers becomes negative and stays so: no reader can be made any more. Then the environment can be
/// closed. The count of waiting threads stays above 0 from the beginning of the closing on, which leads each `put` and
/// `drop` to the code that wakes, so a pool that is open pays nothing for this.
///
/// A thread that waits first counts itself, then looks for a bit once more, then sleeps. `put` sets the bit before it
/// reads that count, so one of the two sees the other. At most one thread is being woken at a time; it wakes the next if
/// there is more to take.
package final class ReaderPool: @unchecked Sendable {
    static let capacity = 64
    /// As many as the processors use at once, and few enough for hundreds of processes.
    static let mostIdle = min(32, max(4, 2 * sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    private static let patienceBeforeGrowing = Duration.milliseconds(5)
    private static let patience = Duration.seconds(1)

    /// The contents of the places.
    ///
    /// They are why the class is unchecked Sendable: a place changes only between a claim of its bit in `used` and the
    /// setting of its bit in `idle`, and after a take.
    private let places: UnsafeMutablePointer<Unmanaged<Reader>?>
    /// The places that have a reader, idle or lent, and those that a thread fills or empties.
    private let used = Atomic<UInt64>(0)
    /// The places with a reader to take.
    private let idle = Atomic<UInt64>(0)
    /// The number of readers that are idle, lent, or being made.
    private let readers = Atomic<Int>(0)
    private let waiting = Atomic<Int>(0)
    /// Whether a thread was woken that has not looked yet.
    private let isWaking = Atomic<Bool>(false)
    /// Raised when a thread is woken.
    private let returned = FutexWord()
    private let isClosing = Atomic<Bool>(false)
    /// What runs when the pool is closed.
    private let atEnd = Mutex<(@Sendable () -> Void)?>(nil)
    /// The number of readers of a closed pool.
    private static let closed = Int.min / 2

    package init() {
        places = .allocate(capacity: Self.capacity)
        places.initialize(repeating: nil, count: Self.capacity)
    }

    deinit {
        removeAll()
        // A reader that was taken and never put back.
        for place in 0..<Self.capacity { places[place]?.release() }
        places.deallocate()
    }

    /// How many readers there are.
    var count: Int { readers.load(ordering: .relaxed) }

    /// Takes an idle reader, if there is one.
    @inline(__always)
    func take() -> Reader? {
        var bits = idle.load(ordering: .sequentiallyConsistent)
        while bits != 0 {
            let bit = bits & (0 &- bits)
            let (isMine, now) = idle.weakCompareExchange(expected: bits, desired: bits & ~bit, ordering: .acquiring)
            guard isMine else {
                bits = now
                continue
            }
            return places[bit.trailingZeroBitCount]?.takeUnretainedValue()
        }
        return nil
    }

    /// Takes a reader when none was idle, or reserves a place for a new one.
    ///
    /// - Parameter mayWait: Whether the thread may wait for another thread's reader.
    /// - Returns: `nil` if the caller has to make a reader. Its place is counted, and the caller calls `put` or `drop`
    ///   for it.
    /// - Throws: `closed` if the pool is closed.
    func takeOrReserve(mayWait: Bool) throws(SpaceError) -> Reader? {
        guard mayWait else {
            if let reader = take() { return reader }
            guard beginUse() else { throw .leftNamespace }
            return nil
        }
        let start = MonotonicInstant.now
        waiting.add(1, ordering: .sequentiallyConsistent)
        while true {
            // The word is read first, because a thread is woken through it from now on.
            let heard = returned.value.load()
            isWaking.store(false, ordering: .sequentiallyConsistent)
            let most = most(since: start)
            if let reader = take() {
                stopWaiting()
                return reader
            }
            if reserve(most) {
                stopWaiting()
                return nil
            }
            if readers.load(ordering: .relaxed) < 0 {
                stopWaiting()
                throw .leftNamespace
            }
            let patience = most < Self.capacity ? Self.patienceBeforeGrowing : Self.patience
            // The only error could be a bad address; the loop looks again in that case too.
            _ = try? returned.futex.wait(while: heard, until: start.advanced(by: patience))
        }
    }

    /// Ends a thread's wait.
    ///
    /// The last one ends the readers beyond `mostIdle` that have come back while threads waited.
    private func stopWaiting() {
        let left = waiting.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard idle.load(ordering: .sequentiallyConsistent) != 0 else { return }
        if left > 0 { return wakeOne() }
        while idle.load(ordering: .relaxed).nonzeroBitCount > Self.mostIdle, let surplus = take() { drop(surplus) }
    }

    /// Counts one more reader, unless there are `most` or the pool is closed.
    private func reserve(_ most: Int) -> Bool {
        var count = readers.load(ordering: .relaxed)
        while count >= 0, count < most {
            let (isDone, now) = readers.weakCompareExchange(expected: count, desired: count + 1, ordering: .acquiring)
            if isDone { return true }
            count = now
        }
        return false
    }

    /// How many readers there may be, for a thread that has waited since `start`.
    private func most(since start: MonotonicInstant) -> Int {
        let waited = MonotonicInstant.now.duration(since: start)
        return waited < Self.patienceBeforeGrowing ? Self.mostIdle : waited < Self.patience ? Self.capacity : .max
    }

    /// Takes back a reader, which was reset.
    @inline(__always)
    func put(_ reader: Reader) {
        guard reader.place != nil || givePlace(to: reader), let place = reader.place else { return drop() }
        let now = idle.bitwiseOr(1 << UInt64(place), ordering: .sequentiallyConsistent).newValue
        if waiting.load(ordering: .sequentiallyConsistent) > 0 {
            wakeWaiter()
        } else if now.nonzeroBitCount > Self.mostIdle, let surplus = take() {
            drop(surplus)
        }
    }

    /// Gives a new reader its place; `false` if all places are in use: the reader is one beyond the capacity, and ends.
    @inline(never)
    private func givePlace(to reader: Reader) -> Bool {
        var bits = used.load(ordering: .relaxed)
        while true {
            let bit = ~bits & (bits &+ 1)
            guard bit != 0 else { return false }
            let (isMine, now) = used.weakCompareExchange(expected: bits, desired: bits | bit, ordering: .acquiring)
            guard isMine else {
                bits = now
                continue
            }
            let place = bit.trailingZeroBitCount
            places[place] = .passRetained(reader)
            reader.place = place
            return true
        }
    }

    /// Adds the reader with which the namespace was opened.
    package func add(_ reader: Reader) {
        readers.add(1, ordering: .relaxed)
        put(reader)
    }

    /// Ends a reader that was taken.
    func drop(_ reader: Reader) {
        free(reader)
        drop()
    }

    private func free(_ reader: Reader) {
        // Not at its last reference, because the thread that puts the reader back may still have that.
        reader.transaction.end()
        guard let place = reader.place else { return }
        places[place]?.release()
        places[place] = nil
        used.bitwiseAnd(~(1 << UInt64(place)), ordering: .releasing)
    }

    /// Counts one reader less, because it could not be made, or because it ends.
    func drop() {
        readers.subtract(1, ordering: .sequentiallyConsistent)
        wakeOne()
    }

    func removeAll() {
        while let reader = take() { drop(reader) }
    }

    // MARK: Closing

    /// Counts a use of the environment without a reader, which lasts until ``endUse()``; `false` if the pool is closed.
    func beginUse() -> Bool { reserve(.max) }

    func endUse() { drop() }

    /// Closes the pool: runs `body` when the last reader has come back and every use has ended, on the thread that ends it.
    ///
    /// The caller sees to it that no thread begins to use readers any more, except those that have begun to take one.
    func close(_ body: @escaping @Sendable () -> Void) {
        atEnd.withLock { $0 = body }
        isClosing.store(true, ordering: .sequentiallyConsistent)
        waiting.add(1, ordering: .sequentiallyConsistent)
        endIfUnused()
    }

    private func endIfUnused() {
        while let reader = take() {
            free(reader)
            readers.subtract(1, ordering: .sequentiallyConsistent)
        }
        let end = readers.compareExchange(expected: 0, desired: Self.closed, ordering: .sequentiallyConsistent)
        guard end.exchanged else { return }
        let body = atEnd.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }

    /// Wakes a thread if one waits, and none is being woken.
    private func wakeOne() {
        if waiting.load(ordering: .sequentiallyConsistent) > 0 { wakeWaiter() }
    }

    @inline(never)
    private func wakeWaiter() {
        if isClosing.load(ordering: .sequentiallyConsistent) { endIfUnused() }
        guard !isWaking.exchange(true, ordering: .sequentiallyConsistent) else { return }
        returned.value.add(1)
        // A thread that counted itself and does not sleep yet sees that the word has changed, and looks.
        _ = returned.futex.wake(1)
    }
}
