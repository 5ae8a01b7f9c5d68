import SpaceEngine
import SpaceSystem
import Synchronization
import SystemPackage

// The waits of an event loop.
//
// A wait is a task, which is suspended while it waits, so a thousand waits need no thousand threads. The task begins on
// the thread that begins the wait, and has its place in line when that call returns. What the wait obtains does not
// belong to the program yet: it is put back if the wait is cancelled before it is handed out, and a take is a claim
// until then. A wait is either handed out or cancelled: both begin by taking it out of the table of tokens, under the
// lock.

/// What a wait has obtained, to be handed out or given back, once.
struct LoopOutcome: Sendable {
    /// Fills the result, and gives what was obtained to the caller; returns what the blocking call would return.
    ///
    /// If it throws, the outcome is given back.
    let handOut: @Sendable (CallResult) throws(SpaceError) -> Int32
    /// Puts back what was obtained.
    let giveBack: @Sendable () -> Void

    init(
        _ handOut: @escaping @Sendable (CallResult) throws(SpaceError) -> Int32,
        giveBack: @escaping @Sendable () -> Void = {}
    ) {
        self.handOut = handOut
        self.giveBack = giveBack
    }

    /// Nothing, because the time has passed.
    static var nothing: LoopOutcome { LoopOutcome { _ in 0 } }

    /// An error of the wait.
    init(_ error: SpaceError, giveBack: @escaping @Sendable () -> Void = {}) {
        self.init({ (_) throws(SpaceError) in throw error }, giveBack: giveBack)
    }
}

/// The work of a wait; it throws `cancelled` if its task is cancelled while it waits.
typealias LoopWork = @Sendable () async throws(SpaceError) -> LoopOutcome

/// What a `sharedspace_loop` stands for.
final class Loop: HandleObject {
    static var kind: HandleKind { .loop }
    static let operation: String? = "use a loop"

    private struct Wait {
        /// Tells it from an earlier wait with the same token.
        let number: UInt64
        /// The watch whose next change is awaited.
        let watch: Watch?
        var task: Task<Void, Never>?
        var outcome: LoopOutcome?
    }

    private struct State {
        /// The waits that were neither handed out nor cancelled, by their tokens.
        var waits: [UInt64: Wait] = [:]
        /// Those that have ended: the newer ones in order, the older ones, which come first, in reverse.
        var newer: [(token: UInt64, number: UInt64)] = []
        var older: [(token: UInt64, number: UInt64)] = []
        var lastNumber: UInt64 = 0
        /// How many tasks have not ended, those of cancelled waits too.
        var tasks = 0
        var isReadable = false
        var isClosed = false

        /// Takes out the wait that has ended first; those that were cancelled since then are passed over.
        mutating func takeNext() -> (token: UInt64, outcome: LoopOutcome)? {
            while true {
                if older.isEmpty {
                    older = newer.reversed()
                    newer = []
                }
                guard let (token, number) = older.popLast() else { return nil }
                guard let wait = waits[token], wait.number == number, let outcome = wait.outcome else { continue }
                waits[token] = nil
                return (token, outcome)
            }
        }

        /// Forgets the waits that were cancelled after they had ended, if they are the majority: a program may never
        /// ask for them.
        mutating func dropCancelled() {
            guard newer.count >= 64, newer.count > 2 * waits.count else { return }
            newer.removeAll { waits[$0.token]?.number != $0.number }
        }
    }

    private let state = Mutex(State())
    private let news: EventFD
    /// Changes when no task is left.
    private let rest = FutexWord()

    init() throws(SpaceError) {
        do throws(Errno) {
            news = try EventFD()
            try TaskPool.begin()
        } catch {
            throw SpaceError(error, subject: "the descriptors of an event loop")
        }
    }

    var descriptor: Int32 { news.raw }

    // MARK: Waits

    /// Begins a wait.
    func begin(_ token: UInt64, of watch: Watch? = nil, _ work: @escaping LoopWork) throws(SpaceError) {
        let number = try state.withLock { (state) throws(SpaceError) in
            if state.isClosed { throw SpaceError.closed("this loop was closed", advice: "open another") }
            guard state.waits[token] == nil else {
                throw SpaceError.misuse(
                    "a wait with the token \(token) is under way",
                    advice: "use the token again when its outcome has come, or after a cancel"
                )
            }
            state.lastNumber += 1
            state.tasks += 1
            state.waits[token] = Wait(number: state.lastNumber, watch: watch)
            return state.lastNumber
        }
        let task = Task.immediate {
            let outcome: LoopOutcome
            do throws(SpaceError) {
                outcome = try await work()
            } catch {
                outcome = LoopOutcome(error)
            }
            self.end(token, number, outcome)
        }
        let isWanted = state.withLock { state in
            guard state.waits[token]?.number == number else { return false }
            state.waits[token]?.task = task
            return true
        }
        // Another thread has cancelled it, or handed out its outcome.
        if !isWanted { task.cancel() }
    }

    /// Called at the end of a wait's task.
    private func end(_ token: UInt64, _ number: UInt64, _ outcome: LoopOutcome) {
        let isWanted = state.withLock { state in
            guard state.waits[token]?.number == number else { return false }
            state.waits[token]?.outcome = outcome
            state.dropCancelled()
            state.newer.append((token, number))
            if !state.isReadable {
                state.isReadable = true
                try? news.signal()
            }
            return true
        }
        if !isWanted { outcome.giveBack() }
        let isLast = state.withLock { state in
            state.tasks -= 1
            return state.tasks == 0
        }
        guard isLast else { return }
        rest.value.add(1)
        rest.futex.wake()
    }

    /// Cancels a wait; returns whether there was one that was not handed out.
    func cancel(_ token: UInt64) -> Bool {
        guard let wait = state.withLock({ $0.waits.removeValue(forKey: token) }) else { return false }
        drop(wait)
        return true
    }

    private func drop(_ wait: Wait) {
        if let outcome = wait.outcome {
            outcome.giveBack()
        } else if let watch = wait.watch {
            // The next wait for the watch begins after the change that this one obtains.
            watch.endWait { wait.task?.cancel() }
        } else {
            wait.task?.cancel()
        }
    }

    /// The wait that has ended first; `nil` if none is left, and then the descriptor is not readable any more.
    func next() -> (token: UInt64, outcome: LoopOutcome)? {
        state.withLock { state in
            if let next = state.takeNext() { return next }
            if state.isReadable {
                state.isReadable = false
                _ = try? news.drain()
            }
            return nil
        }
    }

    /// Cancels all waits, and returns when no task is left.
    func close() {
        let waits = state.withLock { state in
            state.isClosed = true
            defer { state.waits = [:] }
            return Array(state.waits.values)
        }
        for wait in waits { drop(wait) }
        while true {
            let heard = rest.value.load()
            if state.withLock({ $0.tasks }) == 0 { return }
            _ = try? rest.futex.wait(while: heard, for: nil)
        }
    }
}
