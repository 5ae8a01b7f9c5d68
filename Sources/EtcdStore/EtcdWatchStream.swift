import ClusterStore
import EtcdMessages
import SpaceSystem
import Synchronization

/// A stream to a member that carries watches.
///
/// It guarantees each watch all changes of its range from its revision on, in order, those of one revision together, or
/// an error. Four things are needed for that.
///
/// - A watch is asked for from one revision earlier than its user wants, and what comes of that one is dropped. etcd lets
///   a watch begin with the very revision up to which it is compacted, and has forgotten the deletions of that revision;
///   so asked, it says that the revision is compacted exactly if a change may be missing.
/// - etcd may cut a large answer into parts, at any event. The events of the last revision of a part wait for the next
///   part; all earlier ones are complete.
/// - The stream requires a leader: a member that has lost its cluster ends it.
/// - A member that hangs says nothing, and neither does a watch without changes. So the stream asks the member each second
///   for a sign of life, and ends when there was none for three. The revision in that answer is not used, because etcd
///   before 3.5.8 may give it before earlier changes; only what it tells of a watch by itself (progress_notify) is.
final class EtcdWatchStream: Sendable {
    fileprivate struct Watch {
        let queue: StoreNewsQueue
        var joiner: EventJoiner
    }

    fileprivate struct State: ~Copyable {
        var watches: [Int64: Watch] = [:]
        /// etcd takes 0 for "choose one".
        var nextID: Int64 = 1
        var lastSign = ContinuousClock.now
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let members: EtcdMembers
    private let member: EtcdMember
    private let requests: AsyncStream<EtcdWatchRequest>.Continuation
    /// The task that has the connection, which is cancelled to end it.
    private let running = Mutex<Task<Void, Never>?>(nil)
    /// The token with which the stream was opened.
    private let token = Mutex<String?>(nil)

    private static let pulse = Duration.seconds(1)
    private static let longestSilence = Duration.seconds(3)

    /// Begins to open a stream to the member that is asked now.
    init(_ members: EtcdMembers) {
        self.members = members
        member = members.chosen
        let (stream, continuation) = AsyncStream<EtcdWatchRequest>.makeStream()
        requests = continuation
        let task = ConnectionLoop.start { await self.run(stream) }
        running.withLock { $0 = task }
        ConnectionLoop.start { await self.askForSigns() }
    }

    /// Begins a watch.
    ///
    /// - Returns: `nil` if the stream has ended.
    func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error>? {
        let first = max(1, revision)
        return state.withLock { state in
            guard !state.hasEnded else { return nil }
            let id = state.nextID
            state.nextID += 1
            let queue = StoreNewsQueue { [weak self] in self?.stop(id) }
            state.watches[id] = Watch(queue: queue, joiner: EventJoiner(from: first))
            var request = EtcdWatchRequest()
            request.createRequest.key = range.start
            request.createRequest.rangeEnd = range.end
            request.createRequest.startRevision = max(1, first - 1)
            request.createRequest.progressNotify = true
            request.createRequest.watchID = id
            request.createRequest.fragment = true
            // Under the lock, so that the member gets the watches in the order of their numbers.
            requests.yield(request)
            return queue.sequence
        }
    }

    /// Ends a watch, at its user's wish or because its user is too slow.
    private func stop(_ id: Int64) {
        guard state.withLock({ $0.watches.removeValue(forKey: id) }) != nil else { return }
        var request = EtcdWatchRequest()
        request.cancelRequest.watchID = id
        requests.yield(request)
    }

    // MARK: The connection

    private func run(_ stream: AsyncStream<EtcdWatchRequest>) async {
        let failure: EtcdFailure
        do throws(EtcdFailure) {
            let token = try await members.admit(member)
            self.token.withLock { $0 = token }
            try await member.stream(EtcdMethods.watch, stream, token: token) { self.receive($0) }
            return
        } catch {
            failure = error
        }
        if state.withLock({ $0.hasEnded }) { return }
        if failure.meaning == .badToken { members.forgetToken(token.withLock { $0 }) }
        // A watch that is made anew at once would fail at once while no member can be reached, and again.
        if failure.meaning == .notDone {
            try? await Task.sleep(for: .milliseconds(Int.random(in: 100...300)))
        }
        // Before the watches end, so that they begin anew on another member.
        if failure.isMembersOwn { members.leave(member) }
        end(failure.meaning == .refused ? .refused(failure.message) : .unavailable(failure.message))
    }

    /// Asks for signs of life until the stream ends, or is silent, or has had no watch for a while.
    private func askForSigns() async {
        var isEmpty = false
        while true {
            try? await Task.sleep(for: Self.pulse)
            let (silence, count, hasEnded) = state.withLock { state in
                (ContinuousClock.now - state.lastSign, state.watches.count, state.hasEnded)
            }
            if hasEnded { return }
            if silence > Self.longestSilence {
                members.leave(member)
                return end(.unavailable("\(member.url) says nothing for \(silence.components.seconds) seconds"))
            }
            if count == 0, isEmpty { return end(.unavailable("no watch has used the stream for a while")) }
            isEmpty = count == 0
            var request = EtcdWatchRequest()
            request.progressRequest = EtcdWatchProgressRequest()
            requests.yield(request)
        }
    }

    /// Ends the stream with all its watches.
    private func end(_ error: StoreError) {
        let watches = state.withLock { state in
            state.hasEnded = true
            defer { state.watches = [:] }
            return state.watches.values.map(\.queue)
        }
        requests.finish()
        running.withLock { $0 }?.cancel()
        for queue in watches { queue.finish(throwing: error) }
    }

    // MARK: What the member says

    private func receive(_ answer: EtcdWatchResponse) {
        let told = state.withLock { state -> [(Int64, StoreNewsQueue, Result<[StoreNews], StoreError>)] in
            state.lastSign = .now
            if answer.watchID < 0, !answer.created, !answer.canceled {
                return state.watches.map { ($0.key, $0.value.queue, .success([$0.value.joiner.progress])) }
            }
            // A version that refuses a watch may leave out its number; the watches are answered in order.
            let id = answer.watchID < 0 ? state.firstUnanswered : answer.watchID
            guard let id, var watch = state.watches.removeValue(forKey: id) else { return [] }
            if answer.canceled { return [(id, watch.queue, .failure(answer.error))] }
            var news: [StoreNews] = []
            if answer.created {
                watch.joiner.isCreated = true
            } else {
                do throws(StoreError) {
                    news = try watch.joiner.add(answer)
                } catch {
                    return [(id, watch.queue, .failure(error))]
                }
            }
            state.watches[id] = watch
            return [(id, watch.queue, .success(news))]
        }
        // All answers come one after the other, so their news do too.
        for (id, queue, result) in told {
            switch result {
            case .success(let news): if !news.allSatisfy(queue.append) { stop(id) }
            case .failure(let error): queue.finish(throwing: error)
            }
        }
        // The token was good when the stream began; its watches begin anew on a stream with another one.
        if answer.canceled, answer.cancelReason.contains("invalid auth token") {
            members.forgetToken(token.withLock { $0 })
            end(.unavailable(answer.cancelReason))
        }
    }
}

extension EtcdWatchStream.State {
    /// The first watch that the member has not answered.
    fileprivate var firstUnanswered: Int64? { watches.filter { !$0.value.joiner.isCreated }.keys.min() }
}

extension EtcdWatchResponse {
    /// Why the member has ended a watch.
    fileprivate var error: StoreError {
        if compactRevision > 0 { return .compacted(compactRevision + 1) }
        if cancelReason.contains("permission denied") { return .refused(cancelReason) }
        return .unavailable(cancelReason.isEmpty ? "etcd has ended the watch" : cancelReason)
    }
}
