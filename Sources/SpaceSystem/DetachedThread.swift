import Glibc
import Synchronization
package import SystemPackage

/// A thread that runs one closure, and that no other thread waits for.
package enum DetachedThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Sets the signals that threads started from now on block.
    ///
    /// This is for a program that handles signals on its first thread: if another thread takes a signal, it may not
    /// have handled the signal yet when the first thread checks.
    package static func block(_ signals: [CInt]) { blocked.withLock { $0 = signals } }

    private static let blocked = Mutex<[CInt]>([])

    /// Starts a thread.
    ///
    /// The thread is created as detached. If the caller detached it afterwards, the thread, and the process with it,
    /// could have ended already.
    ///
    /// - Throws: `EAGAIN` if no thread can be created (pthread_create(3)); `body` never runs then.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(Errno) {
        let work = Unmanaged.passRetained(Work(body))
        // A thread begins with its creator's mask. If it blocked the signals itself, it could take one before that.
        let mask = blockSignals()
        defer { if var mask { pthread_sigmask(SIG_SETMASK, &mask, nil) } }
        let error = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { place -> CInt in
            guard let attributes = place.baseAddress else { return ENOMEM }
            let error = pthread_attr_init(attributes)
            guard error == 0 else { return error }
            defer { pthread_attr_destroy(attributes) }
            pthread_attr_setdetachstate(attributes, CInt(PTHREAD_CREATE_DETACHED))
            var thread = pthread_t()
            return pthread_create(
                &thread,
                attributes,
                { context in
                    guard let context else { return nil }
                    Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                    return nil
                },
                work.toOpaque()
            )
        }
        guard error == 0 else {
            work.release()
            throw Errno(rawValue: error)
        }
    }

    /// Blocks the signals in this thread; the result is what was blocked before.
    private static func blockSignals() -> sigset_t? {
        let signals = blocked.withLock { $0 }
        guard !signals.isEmpty else { return nil }
        var set = sigset_t(), old = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, &old)
        return old
    }
}
