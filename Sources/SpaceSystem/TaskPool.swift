import Synchronization
package import SystemPackage

/// The threads on which tasks run that have no executor of their own.
///
/// Their first job makes descriptors for libdispatch (an epoll instance, an eventfd, and a timerfd at the first sleep),
/// and ends the process if it can't (`_dispatch_epoll_init`). An asynchronous program meets that in its first moments.
/// A program that calls from threads may have thousands of descriptors by then. So a call that begins tasks for such a
/// program starts the pool first: the caller gets an error then, and no thread ends the process later.
package enum TaskPool {
    /// More than the pool makes.
    private static let descriptors = 4
    private static let hasBegun = Mutex(false)

    /// Makes sure that the pool runs; blocks the thread for a moment, the first time.
    ///
    /// - Throws: The error of the descriptors, such as `EMFILE`, if the process has not enough left.
    package static func begin() throws(Errno) {
        try hasBegun.withLock { (hasBegun) throws(Errno) in
            guard !hasBegun else { return }
            try checkDescriptors(Self.descriptors)
            let done = FutexWord()
            Task.detached {
                try? await Task.sleep(for: .nanoseconds(1))
                done.value.add(1)
                done.futex.wake()
            }
            while done.value.load() == 0 { _ = try? done.futex.wait(while: 0, for: nil) }
            hasBegun = true
        }
    }

    /// Opens `count` descriptors, and closes them again.
    private static func checkDescriptors(_ count: Int) throws(Errno) {
        guard count > 0 else { return }
        let one = try EventFD()
        try checkDescriptors(count - 1)
        _ = one.raw
    }
}
