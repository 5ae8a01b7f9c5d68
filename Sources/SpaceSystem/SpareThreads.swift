import Synchronization
package import SystemPackage

/// Threads for short work that may wait, such as a transaction: a thread whose work is done waits a while for more.
///
/// To start and end a thread costs several times what it costs to wake one that sleeps.
package final class SpareThreads: Sendable {
    package typealias Work = @Sendable () -> Void

    /// Those of this process.
    package static let shared = SpareThreads(most: 4, patience: .seconds(5))

    private let most: Int
    private let patience: Duration
    /// Where threads wait for work; the last one has waited for the shortest time.
    private let seats = Mutex<[Seat]>([])

    /// - Parameters:
    ///   - most: How many threads wait for work at most; the others end.
    ///   - patience: How long a thread waits for work until it ends.
    package init(most: Int, patience: Duration) {
        self.most = most
        self.patience = patience
    }

    /// How many threads wait for work now.
    package var waiting: Int { seats.withLock { $0.count } }

    /// Does work on a thread that does nothing else at that time.
    ///
    /// - Throws: `EAGAIN` if no thread waits and none can be created (pthread_create(3)); the work is never done then.
    package func start(_ work: @escaping Work) throws(Errno) {
        if let seat = seats.withLock({ $0.popLast() }) { return seat.give(work) }
        let seat = Seat()
        seat.give(work)
        // The thread gets the work only from its seat, and so keeps nothing of it when it is done.
        try DetachedThread.start { self.run(seat) }
    }

    private func run(_ seat: Seat) {
        repeat {
            // If another thread has taken the seat from the list, work is on its way.
            guard let work = seat.next(within: patience) ?? (leave(seat) ? nil : seat.next(within: nil)) else { return }
            work()
        } while takePlace(on: seat)
    }

    private func takePlace(on seat: Seat) -> Bool {
        seats.withLock { seats in
            guard seats.count < most else { return false }
            seats.append(seat)
            return true
        }
    }

    private func leave(_ seat: Seat) -> Bool {
        seats.withLock { seats in
            guard let index = seats.firstIndex(where: { $0 === seat }) else { return false }
            seats.remove(at: index)
            return true
        }
    }

    /// Where one thread waits, and one other gives it work.
    private final class Seat: Sendable {
        private let work = Mutex<Work?>(nil)
        /// 1 once there is work.
        private let word = FutexWord()

        func give(_ given: @escaping Work) {
            work.withLock { $0 = given }
            word.value.storeSequential(1)
            word.futex.wake()
        }

        /// Waits for work; `nil` if none has come in time.
        func next(within time: Duration?) -> Work? {
            let deadline = time.map { MonotonicInstant.now.advanced(by: $0) } ?? .distantFuture
            while word.value.load() == 0 {
                guard !deadline.hasPassed else { return nil }
                _ = try? word.futex.wait(while: 0, until: deadline)
            }
            word.value.storeSequential(0)
            return work.withLock { $0.take() }
        }
    }
}
