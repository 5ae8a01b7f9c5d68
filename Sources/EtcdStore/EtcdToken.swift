import EtcdMessages
import SpaceSystem
import Synchronization

/// The user's token, by which etcd knows who calls.
///
/// It is fetched with the password when a call needs it; calls that come meanwhile wait for the same one, because etcd
/// takes a tenth of a second to check a password. etcd's simple tokens end after some minutes without use, on each member
/// for itself, so a call may find the token bad at any time; it then forgets it, and fetches another.
final class EtcdToken: Sendable {
    /// A user, and the file with the password, which is read each time: it may be changed while the daemon runs.
    struct User: Sendable {
        let name: String
        let passwordFile: String
    }

    private enum State {
        case missing
        case fetching(Task<Result<String?, EtcdFailure>, Never>)
        case there(String?)
    }

    private let user: User?
    private let state = Mutex(State.missing)

    init(_ user: User?) { self.user = user }

    /// The token; `nil` if there is no user, or etcd demands none.
    func get(from member: EtcdMember) async throws(EtcdFailure) -> String? {
        guard let user else { return nil }
        let task = state.withLock { state -> Task<Result<String?, EtcdFailure>, Never>? in
            switch state {
            case .there: return nil
            case .fetching(let task): return task
            case .missing:
                let task = ConnectionLoop.start { await self.fetch(user, from: member) }
                state = .fetching(task)
                return task
            }
        }
        if let task { return try await task.value.get() }
        return state.withLock { state in
            guard case .there(let token) = state else { return nil }
            return token
        }
    }

    /// Forgets a token that is not good, unless there is another one already.
    func forget(_ old: String?) {
        state.withLock { state in
            if case .there(let token) = state, token == old { state = .missing }
        }
    }

    private func fetch(_ user: User, from member: EtcdMember) async -> Result<String?, EtcdFailure> {
        var request = EtcdAuthenticateRequest()
        request.name = user.name
        let result: Result<String?, EtcdFailure>
        do throws(EtcdFailure) {
            request.password = try EtcdSecurity.password(user.passwordFile)
            let answer = try await member.call(
                EtcdMethods.authenticate,
                request,
                token: nil,
                timeLimit: .seconds(2)
            )
            result = .success(answer.token)
        } catch {
            if error.message.contains("authentication is not enabled") {
                // As with etcd's own clients, a user is no harm where none is demanded.
                result = .success(nil)
            } else if error.meaning == .refused {
                result = .failure(
                    EtcdFailure(
                        .refused,
                        "etcd does not let the user \(user.name) in: \(error.message); check --user and --password-file",
                        isMembersOwn: false
                    )
                )
            } else {
                // A token that was not fetched has changed nothing.
                result = .failure(EtcdFailure(.notDone, error.message, isMembersOwn: error.isMembersOwn))
            }
        }
        state.withLock { state in
            if case .success(let token) = result { state = .there(token) } else { state = .missing }
        }
        return result
    }
}
