import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// Listens for the end of processes that have claimed, as long as somebody of this process waits for a tuple: then a dead
/// claimer's tuples return within milliseconds, and not at the next tick.
///
/// Guarantees: whoever waits while a session claims for the first time is rung, and listens to it before it sleeps again; a
/// session that has claimed once is listened to until it ends, so that later claims ring nobody. The waiter publishes its slot,
/// then reads the count of claimants; the claimer marks its session, raises the count, then looks at the slots, with a
/// sequentially consistent fence on both sides: so one of them sees the other. A pidfd is opened first and the session's
/// process compared afterwards, so that no later process with the same PID is taken for it. Where no pidfd, no thread or no
/// event descriptor is to be had, and where a claimer is killed before it rang, the tick does it.
///
/// One thread for all namespaces of the process. It runs while somebody waits in a namespace that has claimants, and a second
/// longer, lest a worker that waits again and again has it started each time.
final class ClaimWatch: Sendable {
    static let shared = ClaimWatch()

    private static let linger = Duration.seconds(1)
    /// For the gate: beyond it the tick returns what is left.
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

    /// Somebody waits in a namespace that has claimants.
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

    /// Has the thread look at the claimants of a namespace, if there are new ones since it last did.
    func attend(_ core: any ListeningNamespace, claimants: UInt32) {
        let mustStart = state.withLock { state -> Bool in
            guard state.cores[ObjectIdentifier(core)]?.seen != claimants || state.wakeUp == nil else { return false }
            // After fork the thread is not here.
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

    /// How many namespaces are listened to, for tests.
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
                // Out of memory, say: the ticks serve meanwhile.
                usleep(250_000)
                continue
            }
            // Before the look at the claimants that the wake-up was for.
            _ = try? wakeUp.event.drain()
            for (core, _) in cores where ended.contains(ObjectIdentifier(core)) {
                core.returnClaimsOfTheDead(patience: Self.patience)
            }
        }
    }

    /// Which namespaces are listened to, and whether there are new claimants in them; `nil`: nobody waits any more, and the
    /// thread has ended.
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

        /// Forgets whom only other namespaces have as claimers; closing the descriptor takes it out of the set.
        func keep(only cores: Set<ObjectIdentifier>) {
            for (token, claimer) in claimers where !claimer.cores.isSubset(of: cores) {
                claimer.cores.formIntersection(cores)
                if claimer.cores.isEmpty { forget(token) }
            }
        }

        private func forget(_ token: UInt64) {
            if let claimer = claimers.removeValue(forKey: token) { tokens[claimer.process] = nil }
        }

        /// Listens to all that have claimed in a namespace, and returns what those have left who have ended.
        func follow(_ core: any ListeningNamespace) {
            for process in core.claimants() where !follow(process, of: core) {
                core.returnClaimsOfTheDead(patience: ClaimWatch.patience)
            }
        }

        /// Returns: Whether it lives, as far as can be told.
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
            // The descriptor first: what is compared now is the process that it stands for, or a later one.
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

        /// Returns: The namespaces in which a claimer has ended.
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

/// In how many namespaces this process listens for dead claimers.
package var namespacesListenedTo: Int { ClaimWatch.shared.count }
