import GRPCCore

/// Why a member has not answered a call as it was asked to, and what may have happened.
///
/// The difference that matters is whether the call may have been done. It surely was not if the request never left, or
/// if the member says that it refused the request before it proposed it to its cluster; the texts are those of etcd's
/// rpctypes and server (api/v3rpc/rpctypes/error.go, etcdserver/v3_server.go). Every other failure of a request that was
/// sent leaves it open.
struct EtcdFailure: Error {
    enum Meaning {
        /// Nothing was done, and it may be asked for again.
        case notDone
        /// There is no answer: it may have been done, or may still be.
        case unanswered
        /// Nothing was done, and asking again would not help.
        case refused
        /// Nothing was done: the token is not, or no longer, good.
        case badToken
    }

    let meaning: Meaning
    let message: String
    /// Whether another member may be better.
    let isMembersOwn: Bool

    /// Whether the member has answered.
    var isAnswer: Bool { meaning == .refused || meaning == .badToken }

    init(_ meaning: Meaning, _ message: String, isMembersOwn: Bool) {
        self.meaning = meaning
        self.message = message
        self.isMembersOwn = isMembersOwn
    }

    /// The failure of an option, or of the file that it names.
    init(_ message: String) { self.init(.refused, message, isMembersOwn: false) }

    /// The failure of a call.
    ///
    /// - Parameters:
    ///   - error: What the call has thrown.
    ///   - url: The member.
    ///   - wasSent: Whether the request may have left.
    init(_ error: any Error, of url: EtcdURL, wasSent: Bool) {
        guard wasSent else {
            self.init(.notDone, "\(url) can't be reached: \(Self.reason(error))", isMembersOwn: true)
            return
        }
        guard let status = error as? RPCError else {
            self.init(.unanswered, "\(url) does not answer: \(Self.reason(error))", isMembersOwn: true)
            return
        }
        let text = status.message
        switch status.code {
        case .unavailable where text == "etcdserver: no leader":
            // The member says it before it looks at the request, because the call requires a leader.
            self.init(.notDone, "\(url): \(text)", isMembersOwn: true)
        case .resourceExhausted where text == "etcdserver: too many requests":
            self.init(.notDone, "\(url): \(text)", isMembersOwn: false)
        case .unauthenticated where text.contains("invalid auth token"),
            .invalidArgument where text.contains("revision of auth store is old"),
            // Without a token, once the cluster demands one.
            .invalidArgument where text.contains("user name is empty"):
            self.init(.badToken, "\(url): \(text)", isMembersOwn: false)
        case .permissionDenied:
            self.init(
                .refused,
                "\(url): \(text): the user of --user may not use the keys of --prefix",
                isMembersOwn: false
            )
        case .invalidArgument, .notFound, .alreadyExists, .resourceExhausted, .failedPrecondition,
            .outOfRange, .unimplemented, .dataLoss, .unauthenticated:
            self.init(.refused, text, isMembersOwn: false)
        case .deadlineExceeded:
            self.init(.unanswered, "\(url) does not answer in time", isMembersOwn: true)
        default:
            // Among them 'etcdserver: request timed out', 'etcdserver: leader changed', 'etcdserver: server stopped',
            // and a connection that is lost.
            self.init(.unanswered, "\(url): \(Self.reason(error))", isMembersOwn: true)
        }
    }

    /// An error's own words, with those of its deepest cause.
    private static func reason(_ error: any Error) -> String {
        guard let status = error as? RPCError else { return ConnectionTrouble.told("\(error)") }
        if status.code == .deadlineExceeded { return "no answer in time" }
        guard let cause = status.cause else { return ConnectionTrouble.told(status.message) }
        return reason(cause)
    }
}
