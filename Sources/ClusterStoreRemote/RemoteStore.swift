package import ClusterStore
import SpaceSystem
import Synchronization
package import SystemPackage

/// A ``Store`` in another process, over a ``MessageChannel``.
///
/// Each call has a time limit. A transaction that is sent and has no answer when its time is over, its task is cancelled
/// or the connection ends, is `unknown`; every other call is `unavailable` then, and safe to repeat. If nothing at all has
/// come since a call that is late was sent, the other side hangs, and the connection ends. When it has ended, every call
/// fails at once and every watch has ended; ``ReconnectingStore`` makes a new one then.
package final class RemoteStore: Store {
    private let core: RemoteStoreCore

    /// Takes over a pair of descriptors, which may be the same one.
    ///
    /// - Parameters:
    ///   - input: Where the answers are read.
    ///   - output: Where the requests are written.
    ///   - timeLimit: How long a call waits for its answer.
    ///   - lastWords: What the other side has said of its end, when the connection has ended; empty: nothing.
    /// - Throws: The system's error if the descriptors can't be used.
    package init(
        input: CInt,
        output: CInt,
        timeLimit: Duration = .seconds(5),
        lastWords: @escaping @Sendable () -> String = { "" }
    ) throws(Errno) {
        let channel = try MessageChannel(input: input, output: output)
        core = RemoteStoreCore(channel, timeLimit: timeLimit, lastWords)
        try core.start()
    }

    deinit { core.channel.close("the store's user has let it go") }

    /// Ends the connection.
    package func close() { core.channel.close("the store's user has closed it") }

    /// Waits until the connection has ended, or the task is cancelled.
    ///
    /// - Returns: Why it has ended; `nil` if the task was cancelled.
    package func ended() async -> String? {
        for await reason in core.endings() { return reason }
        return nil
    }

    /// Whether the connection has ended.
    package var hasEnded: Bool { core.hasEnded }

    /// Whether the other side has answered at least once.
    package var hasAnswered: Bool { core.hasAnswered }

    package func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading {
        let answer = try await core.call(.read(range, limit: limit, keysOnly: keysOnly))
        guard case .reading(let reading) = answer else { throw core.mismatch(answer, isTransaction: false) }
        return reading
    }

    package func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome {
        let answer = try await core.call(.transact(transaction))
        guard case .outcome(let outcome) = answer else { throw core.mismatch(answer, isTransaction: true) }
        return outcome
    }

    package func makeLease(seconds: Int) async throws(StoreError) -> StoreLease {
        let answer = try await core.call(.makeLease(seconds: seconds))
        guard case .lease(let lease) = answer else { throw core.mismatch(answer, isTransaction: false) }
        return lease
    }

    package func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int {
        let answer = try await core.call(.keepAlive(lease))
        guard case .seconds(let seconds) = answer else { throw core.mismatch(answer, isTransaction: false) }
        return seconds
    }

    package func end(_ lease: StoreLease) async throws(StoreError) {
        let answer = try await core.call(.end(lease))
        guard case .done = answer else { throw core.mismatch(answer, isTransaction: false) }
    }

    package func status() async throws(StoreError) -> StoreStatus {
        let answer = try await core.call(.status)
        guard case .status(let status) = answer else { throw core.mismatch(answer, isTransaction: false) }
        return status
    }

    package func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        core.watch(range, from: revision)
    }
}

/// What the channel's thread and the callers share; the thread keeps it, so that the store itself can go.
private final class RemoteStoreCore: Sendable {
    typealias Answer = Result<WireAnswer, StoreError>

    private struct Call {
        let deadline: MonotonicInstant
        let isTransaction: Bool
        let continuation: CheckedContinuation<Answer, Never>
    }

    private struct State: ~Copyable {
        var nextID: UInt64 = 1
        var calls: [UInt64: Call] = [:]
        /// The calls in the order of their deadlines, with those that are answered already.
        var deadlines: [(id: UInt64, MonotonicInstant)] = []
        var watches: [UInt64: StoreNewsQueue] = [:]
        /// When the other side last answered; `nil` if it never has.
        var answered: MonotonicInstant?
        /// When the channel's thread wakes by itself; `nil`: never.
        var wakes: MonotonicInstant?
        var end: String?
        var observers: [AsyncStream<String>.Continuation] = []
    }

    let channel: MessageChannel
    private let timeLimit: Duration
    private let lastWords: @Sendable () -> String
    private let state = Mutex(State())

    init(_ channel: MessageChannel, timeLimit: Duration, _ lastWords: @escaping @Sendable () -> String) {
        self.channel = channel
        self.timeLimit = timeLimit
        self.lastWords = lastWords
    }

    func start() throws(Errno) {
        try channel.start(
            MessageChannel.Handlers(
                received: { message throws(WireError) in try self.receive(message) },
                tick: { self.tick() },
                ended: { self.finish($0) }
            )
        )
    }

    var hasEnded: Bool { state.withLock { $0.end != nil } }
    var hasAnswered: Bool { state.withLock { $0.answered != nil } }

    func endings() -> AsyncStream<String> {
        let (endings, continuation) = AsyncStream<String>.makeStream()
        let end = state.withLock { state in
            if state.end == nil { state.observers.append(continuation) }
            return state.end
        }
        if let end {
            continuation.yield(end)
            continuation.finish()
        }
        return endings
    }

    // MARK: Calls

    func call(_ request: WireRequest) async throws(StoreError) -> WireAnswer {
        let number = CallNumber()
        let answered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(
                    request,
                    number,
                    Call(deadline: deadline, isTransaction: request.isTransaction, continuation: continuation)
                )
            }
        } onCancel: {
            // Before the call has its number, it is not sent, and finds that its task is cancelled by itself.
            if let id = number.value { resume(id) { Answer.unanswered("the call was cancelled", $0) } }
        }
        let answer = try answered.get()
        if case .failed(let error) = answer { throw error }
        return answer
    }

    private var deadline: MonotonicInstant { MonotonicInstant.now.advanced(by: timeLimit) }

    private func begin(_ request: WireRequest, _ number: CallNumber, _ call: Call) {
        if Task.isCancelled {
            return call.continuation.resume(
                returning: .failure(.unavailable("the call was cancelled before it was sent"))
            )
        }
        let unnumbered = request.message(id: 0)
        let (id, failure, wakes) = state.withLock { state -> (UInt64, String?, Bool) in
            if let end = state.end { return (0, end, false) }
            let id = state.nextID
            state.nextID += 1
            state.calls[id] = call
            state.deadlines.append((id, call.deadline))
            let wakes = state.wakes.map { call.deadline < $0 } ?? true
            if wakes { state.wakes = call.deadline }
            // Under the lock: the other side ends the connection if a number comes after a higher one.
            return (id, channel.send(unnumbered.numbered(id)), wakes)
        }
        guard id > 0 else { return call.continuation.resume(returning: .failure(.unavailable(failure ?? ""))) }
        number.set(id)
        if let failure { resume(id) { _ in .failure(.unavailable(failure)) } }
        if wakes { channel.wake() }
        // The handler of a cancellation in between has not found the call.
        if Task.isCancelled { resume(id) { .unanswered("the call was cancelled", $0) } }
    }

    /// Answers a call, if it is not answered yet.
    private func resume(_ id: UInt64, _ answer: (_ isTransaction: Bool) -> Answer) {
        guard let call = state.withLock({ $0.calls.removeValue(forKey: id) }) else { return }
        call.continuation.resume(returning: answer(call.isTransaction))
    }

    func mismatch(_ answer: WireAnswer, isTransaction: Bool) -> StoreError {
        let reason = "the other side answers another question than was asked"
        channel.close(reason)
        return isTransaction ? .unknown(reason) : .unavailable(reason)
    }

    // MARK: Watches

    func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        let (id, refusal, queue) = state.withLock { state in
            let id = state.nextID
            state.nextID += 1
            let queue = StoreNewsQueue { [weak self] in self?.stop(id) }
            if let end = state.end { return (id, String?.some(end), queue) }
            state.watches[id] = queue
            return (id, channel.send(WireRequest.watch(range, from: revision).message(id: id)), queue)
        }
        if let refusal {
            state.withLock { _ = $0.watches.removeValue(forKey: id) }
            queue.finish(throwing: .unavailable(refusal))
        }
        return queue.sequence
    }

    private func stop(_ id: UInt64) {
        guard state.withLock({ $0.watches.removeValue(forKey: id) }) != nil else { return }
        _ = channel.send(WireRequest.stopWatching.message(id: id))
    }

    // MARK: On the channel's thread

    private func receive(_ message: WireMessage) throws(WireError) {
        let (isAsked, queue) = state.withLock { state in
            state.answered = .now
            return (message.id < state.nextID, state.watches[message.id])
        }
        guard isAsked, message.id > 0 else { throw WireError("an answer to request \(message.id), which was not sent") }
        let answer = try WireAnswer(message)
        guard let queue else { return resume(message.id) { _ in .success(answer) } }
        switch answer {
        case .news(let news):
            if !queue.append(news) { stop(message.id) }
        case .failed(let error):
            state.withLock { _ = $0.watches.removeValue(forKey: message.id) }
            queue.finish(throwing: error)
        default: throw WireError("an answer to watch \(message.id) that is no news")
        }
    }

    /// Answers the calls whose time is over.
    private func tick() -> MonotonicInstant? {
        let (late, hangs, next) = state.withLock { state -> ([Call], Bool, MonotonicInstant?) in
            let now = MonotonicInstant.now
            var late: [Call] = []
            // All calls have the same time limit; two tasks may have appended theirs in the other order, by microseconds.
            let open = state.deadlines.firstIndex { entry in
                guard entry.1 <= now || state.calls[entry.id] == nil else { return true }
                if let call = state.calls.removeValue(forKey: entry.id) { late.append(call) }
                return false
            }
            state.deadlines.removeFirst(open ?? state.deadlines.count)
            // After the last call the thread stays awake for one time limit, so that callers that follow each other don't
            // wake it each time.
            let isIdle = state.deadlines.isEmpty && (state.wakes ?? now) <= now
            state.wakes = isIdle ? nil : state.deadlines.first?.1 ?? state.wakes
            let hangs = late.contains { call in
                state.answered.map { call.deadline >= $0.advanced(by: timeLimit) } ?? true
            }
            return (late, hangs, state.wakes)
        }
        let reason = "no answer within \(timeLimit)"
        if hangs { channel.close(reason) }
        for call in late {
            call.continuation.resume(returning: .unanswered(reason, call.isTransaction))
        }
        return next
    }

    private func finish(_ ending: String) {
        let words = lastWords()
        let reason = words.isEmpty ? ending : words
        let (calls, watches, observers) = state.withLock { state in
            state.end = reason
            defer {
                state.calls = [:]
                state.watches = [:]
                state.observers = []
            }
            return (Array(state.calls.values), Array(state.watches.values), state.observers)
        }
        for call in calls { call.continuation.resume(returning: .unanswered(reason, call.isTransaction)) }
        for watch in watches { watch.finish(throwing: .unavailable(reason)) }
        for observer in observers {
            observer.yield(reason)
            observer.finish()
        }
    }
}

extension Result<WireAnswer, StoreError> {
    /// The result of a call that was sent.
    fileprivate static func unanswered(_ reason: String, _ isTransaction: Bool) -> Self {
        .failure(isTransaction ? .unknown(reason) : .unavailable(reason))
    }
}

/// The number of a call, once it has one.
private final class CallNumber: Sendable {
    private let number = Atomic<UInt64>(0)

    var value: UInt64? {
        let value = number.load(ordering: .acquiring)
        return value == 0 ? nil : value
    }

    func set(_ value: UInt64) { number.store(value, ordering: .releasing) }
}

extension WireMessage {
    fileprivate func numbered(_ id: UInt64) -> WireMessage { WireMessage(id: id, kind: kind, body: body) }
}

extension WireRequest {
    fileprivate var isTransaction: Bool {
        guard case .transact = self else { return false }
        return true
    }
}
