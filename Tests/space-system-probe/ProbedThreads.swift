import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// How often the first thread has handled a signal, and how often another one.
private let here = Atomic<Int>(0)
private let elsewhere = Atomic<Int>(0)
private let ended = Atomic<Int>(0)
private let first = pthread_self()

/// Starts threads that block a signal, while it is sent again and again, and says which threads have handled it.
///
/// The first thread blocks the signal once it has started a thread, as it does to start a program: the kernel then gives
/// it to any thread that does not.
func startThreadsInStorm() throws(Errno) {
    // Globals are initialised on first use, which must not happen inside a handler.
    _ = (here.load(ordering: .relaxed), elsewhere.load(ordering: .relaxed), ended.load(ordering: .relaxed), first)
    signal(SIGUSR1) { _ in
        if pthread_self() == first { here.add(1, ordering: .relaxed) } else { elsewhere.add(1, ordering: .relaxed) }
    }
    DetachedThread.block([SIGUSR1])
    let count = 200
    try DetachedThread.start { while ended.load(ordering: .relaxed) < count { kill(getpid(), SIGUSR1) } }
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGUSR1)
    for number in 1...count {
        try DetachedThread.start { ended.add(1, ordering: .relaxed) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        while ended.load(ordering: .relaxed) < number { sched_yield() }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
    say(
        "handled by the first thread: \(here.load(ordering: .relaxed) > 0), by others: \(elsewhere.load(ordering: .relaxed))"
    )
}
