import ClusterStore
import SwiftProtobuf
import Synchronization

/// The members of one etcd, of which one at a time is asked.
///
/// A member that can't be reached, has no leader or does not answer in time is left for the next one, in a circle; all
/// callers move together, so that a member that hangs costs one time limit and not one per call. The leader is preferred
/// (``followLeader()``); until it is known, each machine asks a member of its own choice. After a round in which no member
/// could do a call, the call waits, longer each time and never the same time as other machines.
final class EtcdMembers: Sendable {
    let all: [EtcdMember]
    private let current: Mutex<Int>
    private let token: EtcdToken
    private let hasLooked = Atomic(false)
    private let firstLook = Mutex<Task<Void, Never>?>(nil)
    private let etcds = Mutex(Etcds())

    /// How long a member may take for an answer.
    private static let attempt = Duration.seconds(2)
    /// How long a call may take with all its attempts; a process waits for its daemon's answer only a little longer.
    private static let total = Duration.milliseconds(4500)
    /// An attempt that has less time than this is not begun.
    private static let shortest = Duration.milliseconds(200)

    /// What is known of which etcd the members belong to.
    private struct Etcds {
        /// The etcd that is asked: its ID, and a member of it; `nil` until a member has answered.
        var own: (id: UInt64, url: EtcdURL)?
        /// The members that have answered; one of them may not say to which etcd it belongs.
        var asked: Set<EtcdURL> = []
        /// Why no member is asked any more: members of different etcds have answered.
        var trouble: String?

        /// Learns to which etcd a member belongs; `nil` if it does not say.
        mutating func learn(_ url: EtcdURL, _ id: UInt64?) {
            asked.insert(url)
            guard trouble == nil, let id else { return }
            guard let own else {
                self.own = (id, url)
                return
            }
            guard own.id != id else { return }
            trouble =
                "--etcd names members of different etcds: \(own.url) and \(url); name those of one, and if there is one "
                + "alone, start the daemon again"
        }
    }

    /// - Parameters:
    ///   - all: The members.
    ///   - user: The user in etcd.
    init(_ all: [EtcdMember], user: EtcdToken.User?) {
        self.all = all
        current = Mutex(Int.random(in: all.indices))
        token = EtcdToken(user)
    }

    /// The member that is asked now.
    var chosen: EtcdMember { all[current.withLock { $0 }] }

    /// Goes on to the next member, unless another call has done so already.
    func leave(_ member: EtcdMember) {
        current.withLock { current in
            if all[current] === member { current = (current + 1) % all.count }
        }
    }

    /// Why no member is asked: not all that have answered belong to one etcd.
    var trouble: String? { etcds.withLock { $0.trouble } }

    /// Learns to which etcd a member belongs; `nil` if it does not say.
    ///
    /// Each etcd has an ID. Machines that ask different ones would each have namespaces of their own. So the first that has
    /// answered is the only one as long as the daemon lives. If members of two have answered, it is not known which of them
    /// is meant, and no member is asked as long as the daemon lives.
    func learn(_ url: EtcdURL, _ id: UInt64?) { etcds.withLock { $0.learn(url, id) } }

    /// Makes sure that a member is of the etcd that is asked, before it is asked for anything else.
    ///
    /// - Returns: The user's token for calls to it.
    /// - Throws: `refused` if members of different etcds have answered.
    func admit(_ member: EtcdMember) async throws(EtcdFailure) -> String? {
        if !etcds.withLock({ $0.asked.contains(member.url) }) {
            if case .failure(let failure) = await status(of: member), !failure.isAnswer {
                throw EtcdFailure(.notDone, failure.message, isMembersOwn: true)
            }
        }
        if let trouble { throw EtcdFailure(.refused, trouble, isMembersOwn: false) }
        return try await token(from: member)
    }

    /// Before the first call, all members are asked which etcd they belong to; until one has answered, so is each later call.
    private func look() async {
        guard !hasLooked.load(ordering: .acquiring) else { return }
        let task = firstLook.withLock { look in
            let task = look ?? ConnectionLoop.start { await self.lookOnce() }
            look = task
            return task
        }
        await task.value
    }

    private func lookOnce() async {
        let answers = await statuses()
        if answers.contains(where: { $0.1.isAnswer }) { hasLooked.store(true, ordering: .releasing) }
        firstLook.withLock { $0 = nil }
    }

    /// Goes on to a member that is better than the present one.
    func go(to member: EtcdMember) {
        guard let place = all.firstIndex(where: { $0 === member }) else { return }
        current.withLock { $0 = place }
    }

    /// The user's token for a call to a member.
    func token(from member: EtcdMember) async throws(EtcdFailure) -> String? { try await token.get(from: member) }

    /// Lets the next call fetch another token.
    func forgetToken(_ old: String?) { token.forget(old) }

    /// Calls a method of the member that is asked now, and of others if it can't do it.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - request: Its request.
    ///   - isRepeatable: Whether a call that may have been done already is done again.
    /// - Returns: The answer.
    /// - Throws: `unknown` only if the call is not repeatable.
    func call<Request: Message, Response: Message>(
        _ method: EtcdMethod<Request, Response>,
        _ request: Request,
        isRepeatable: Bool = true
    ) async throws(StoreError) -> Response {
        let end = ContinuousClock.now + Self.total
        await look()
        var pause = Duration.milliseconds(50)
        var triedMembers = 0
        var tokens = 0
        while true {
            let member = chosen
            let failure: EtcdFailure
            var used: String?
            do throws(EtcdFailure) {
                used = try await admit(member)
                return try await member.call(
                    method,
                    request,
                    token: used,
                    timeLimit: min(Self.attempt, end - .now)
                )
            } catch {
                failure = error
            }
            if failure.isMembersOwn { leave(member) }
            switch failure.meaning {
            case .refused: throw .refused(failure.message)
            case .unanswered where !isRepeatable: throw .unknown(failure.message)
            case .badToken:
                forgetToken(used)
                tokens += 1
                guard tokens < 3 else { throw .refused(failure.message) }
                continue
            case .unanswered, .notDone: break
            }
            triedMembers += 1
            if triedMembers % all.count == 0 {
                // Up to half as long again.
                let wait = pause + pause * Double.random(in: 0...0.5)
                guard end - .now > wait + Self.shortest else { throw .unavailable(failure.message) }
                do { try await Task.sleep(for: wait) } catch { throw .unavailable("the call was cancelled") }
                pause = min(pause * 2, .milliseconds(500))
            }
            guard end - .now > Self.shortest, !Task.isCancelled else { throw .unavailable(failure.message) }
        }
    }
}
