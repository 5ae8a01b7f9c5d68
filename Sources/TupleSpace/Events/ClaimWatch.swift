import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// Listens for the end of processes that have claimed, while a thread or task of this process waits for a tuple.
///
/// A dead claimer's tuples then return within milliseconds, instead of at the next tick.
///
/// Guarantees: a waiter that sleeps when a session claims for the first time is woken, and listens to that session
/// before it sleeps again. A session that has claimed once is listened to until it ends, so its later claims wake no
/// waiter. The waiter publishes its slot, then reads the count of claimants; the claimer marks its session, raises
/// the count, then looks at the slots. Both have a sequentially consistent fence in between, so one of them sees the
/// other. A pidfd is opened first and the session's process compared afterwards, so that a later process with the
/// same PID is never mistaken for it. If no pidfd, thread or event descriptor can be had, or if a claimer is killed
/// before it wakes the waiters, the next tick returns the tuples.
///
/// There is one thread for all namespaces of the process. It runs while there are waiters in a namespace that has
/// claimants, and one second longer, so that a process that waits again and again does not start it each time.
final class ClaimWatch: Sendable {
    static let shared = ClaimWatch()

    private static let linger = Duration.seconds(1)
    /// The time to wait for the gate; after it, the tick returns what is left.
    private static let patience = Duration.milliseconds(100)
    private static let operation = "listen for claimers"

    private let state = Mutex(State())

    private struct State {
        var cores: [ObjectIdentifier: Watched] = [:]
        var wakeUp: EventBox?
        var generation = ForkGuard.generation
    }

    private struct Watched {
        weak var core: (any ListeningNamespace)?
        var waiters = 0
        var idleSince = MonotonicInstant.now
        /// The count of claimants at the last look.
        var seen: UInt32 = 0
    }

    private final class EventBox: Sendable {
        let event: EventFD
        init?() {
            guard let event = try? EventFD() else { return nil }
            self.event = event
        }
    }

    // MARK: Waiters

    /// Notes that a waiter has begun in a namespace that has claimants.
    func begin(_ core: any ListeningNamespace) {
        state.withLock { state in
            var watched = state.cores[ObjectIdentifier(core)] ?? Watched()
            // The object that had this address may be gone.
            if watched.core !== core { watched = Watched() }
            watched.core = core
            watched.waiters += 1
            state.cores[ObjectIdentifier(core)] = watched
        }
    }

    func end(_ core: any ListeningNamespace) {
        state.withLock { state in
            guard var watched = state.cores[ObjectIdentifier(core)] else { return }
            watched.waiters -= 1
            if watched.waiters <= 0 { watched.idleSince = .now }
            state.cores[ObjectIdentifier(core)] = watched
        }
    }

    /// Has the thread look at a namespace's claimants, if there are new ones since its last look.
    func attend(_ core: any ListeningNamespace, claimants: UInt32) {
        let mustStart = state.withLock { state -> Bool in
            guard state.cores[ObjectIdentifier(core)]?.seen != claimants || state.wakeUp == nil else { return false }
            // After a fork this process does not have the thread.
            if state.generation != ForkGuard.generation {
                state.generation = ForkGuard.generation
                state.wakeUp = nil
            }
            if let wakeUp = state.wakeUp {
                try? wakeUp.event.signal()
                return false
            }
            state.wakeUp = EventBox()
            return state.wakeUp != nil
        }
        guard mustStart else { return }
        do throws(Errno) {
            try DetachedThread.start { self.run() }
        } catch {
            state.withLock { $0.wakeUp = nil }
        }
    }

    /// The number of namespaces that are listened to, for tests.
    var count: Int { state.withLock { $0.wakeUp == nil ? 0 : $0.cores.count } }

    // MARK: The thread

    private func run() {
        guard let wakeUp = state.withLock({ $0.wakeUp }), let listeners = try? Listeners(wakeUp.event) else {
            return state.withLock { $0.wakeUp = nil }
        }
        while let cores = turn() {
            listeners.keep(only: Set(cores.map { ObjectIdentifier($0.core) }))
            for (core, isNew) in cores where isNew { listeners.follow(core) }
            guard let ended = try? listeners.wait(atMost: Self.linger) else {
                // Memory may be short, for example; the ticks do the work until then.
                usleep(250_000)
                continue
            }
            // Drained before the look at the claimants that the wake-up announces.
            _ = try? wakeUp.event.drain()
            for (core, _) in cores where ended.contains(ObjectIdentifier(core)) {
                core.returnClaimsOfTheDead(patience: Self.patience)
            }
        }
    }

    /// The namespaces to listen to, and whether there are new claimants in them; `nil` ends the thread, because there
    /// are no waiters.
    private func turn() -> [(core: any ListeningNamespace, isNew: Bool)]? {
        let now = MonotonicInstant.now
        return state.withLock { state in
            var cores: [(core: any ListeningNamespace, isNew: Bool)] = []
            for (id, watched) in state.cores {
                let end = watched.idleSince.advanced(by: Self.linger)
                guard let core = watched.core, !core.engine.isLeft, watched.waiters > 0 || end > now else {
                    state.cores[id] = nil
                    continue
                }
                let claimants = core.engine.control.claimants.loadSequential()
                state.cores[id]?.seen = claimants
                cores.append((core, claimants != watched.seen))
            }
            guard cores.isEmpty else { return cores }
            state.wakeUp = nil
            return nil
        }
    }

    /// The processes whose ends the thread listens for, and the namespaces in which each has claimed.
    ///
    /// Used by one thread.
    private final class Listeners {
        private static let wakeToken: UInt64 = 0

        private let epoll: Epoll
        private var claimers: [UInt64: Claimer] = [:]
        private var tokens: [ProcessIdentity: UInt64] = [:]
        private var next = wakeToken + 1

        private final class Claimer {
            let process: ProcessIdentity
            let pidfd: PIDFD
            var cores: Set<ObjectIdentifier> = []

            init(_ process: ProcessIdentity, _ pidfd: consuming PIDFD) {
                self.process = process
                self.pidfd = pidfd
            }
        }

        init(_ wakeUp: borrowing EventFD) throws(Errno) {
            epoll = try Epoll()
            try epoll.add(wakeUp.raw, .readable, token: Self.wakeToken)
        }

        /// Forgets processes that are claimers only in other namespaces; closing the descriptor takes it out of the
        /// epoll set.
        func keep(only cores: Set<ObjectIdentifier>) {
            for (token, claimer) in claimers where !claimer.cores.isSubset(of: cores) {
                claimer.cores.formIntersection(cores)
                if claimer.cores.isEmpty { forget(token) }
            }
        }

        private func forget(_ token: UInt64) {
            if let claimer = claimers.removeValue(forKey: token) { tokens[claimer.process] = nil }
        }

        /// Listens to all claimers of a namespace, and returns the claims of those that have ended.
        func follow(_ core: any ListeningNamespace) {
            for process in core.claimants() where !follow(process, of: core) {
                core.returnClaimsOfTheDead(patience: ClaimWatch.patience)
            }
        }

        /// Listens to a process; returns whether the process is alive, as far as this can be determined.
        private func follow(_ process: ProcessIdentity, of core: any ListeningNamespace) -> Bool {
            if let token = tokens[process] {
                claimers[token]?.cores.insert(ObjectIdentifier(core))
                return true
            }
            let pidfd: PIDFD
            do throws(Errno) {
                pidfd = try PIDFD(pid: process.pid)
            } catch {
                return error != .noSuchProcess
            }
            // The descriptor is opened first: the process compared now is the one that it stands for, or a later one.
            guard process.life == .alive else { return false }
            let token = next
            guard (try? epoll.add(pidfd.raw, .readable, token: token)) != nil else { return true }
            next += 1
            let claimer = Claimer(process, pidfd)
            claimer.cores = [ObjectIdentifier(core)]
            claimers[token] = claimer
            tokens[process] = token
            return true
        }

        /// Waits for ends of processes; returns the namespaces in which a claimer has ended.
        func wait(atMost limit: Duration?) throws(Errno) -> Set<ObjectIdentifier> {
            var ended: Set<ObjectIdentifier> = []
            for event in try epoll.wait(timeout: limit) {
                guard let claimer = claimers[event.token] else { continue }
                ended.formUnion(claimer.cores)
                forget(event.token)
            }
            return ended
        }
    }
}

/// The number of namespaces in which this process listens for dead claimers.
package var namespacesListenedTo: Int { ClaimWatch.shared.count }
