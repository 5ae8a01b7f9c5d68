public import CSharedSpace
import SharedSpace
import SharedSpaceObjects
import TupleCoding

// Requests, and what answers them.

extension NamespaceHandle {
    /// How long a request waits without a time-out of its own, as that of the command.
    private static let patience = Duration.seconds(5)

    /// A request, as a call that blocks the thread and a wait of a loop make it; its time-out in the second place.
    func request(_ name: String, _ value: Value, _ how: Options) throws(SpaceError) -> Requesting {
        let timeout: Duration? = if case .none = try how.wait { Self.patience } else { try how.timeout }
        return try namespace.requesting(
            name,
            value: value,
            ifAbsent: how.flags.contains(.now) ? .fails : .waits,
            timeout: timeout
        )
    }
}

extension SpaceError {
    /// Whether no responder has answered in time, or there is none.
    var isOfNoAnswer: Bool { code == .noResponder || code == .timedOut }
}

extension CallResult {
    /// Gives a reply; without one, who was asked.
    func give(reply: () throws(SpaceError) -> Requesting.Reply, _ flags: Flags) throws(SpaceError) -> Int32 {
        do throws(SpaceError) {
            let reply = try reply()
            try give(try reply.content(), flags)
            set(\.pid, reply.pid)
            return 1
        } catch  where error.isOfNoAnswer {
            clear()
            set(\.pid, error.holder ?? 0)
            return 0
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_request(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ argument: sharedspace_bytes,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "request", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: [.json, .now])
        let result = try CallResult(result)
        let value = try argument.valueOrNull(how.flags)
        let asked = try handle.request(try required(name, "the name"), value, how)
        return try result.give(
            reply: { () throws(SpaceError) in try asked.block(interruption: how.interruptionOfAnyWait) },
            how.flags
        )
    }
}

/// What a `sharedspace_responder` stands for: its requests, and a handle on the namespace that doesn't keep it alive.
final class ResponderHandle: HandleObject {
    static var kind: HandleKind { .responder }
    static let operation: String? = "respond"

    let requests: RequestSource

    init(_ requests: RequestSource) { self.requests = requests }

    func close() throws(SpaceError) {
        requests.end()
        try requests.namespace.leave()
    }

    /// A request that is in hand.
    func request(_ number: UInt64) throws(SpaceError) -> IncomingRequest {
        guard let request = requests.request(number) else {
            throw .misuse("no request \(number) is in hand", advice: "answer a request once")
        }
        return request
    }

    /// The next request; `nil` if the time has passed.
    func request(_ turn: RequestSource.Turn) throws(SpaceError) -> IncomingRequest? {
        switch turn {
        case .request(let request): return request
        case .late: return nil
        case .ended:
            throw SpaceError(
                .holdLost,
                reason: "the responder was replaced or removed",
                advice: "open another, if it is to answer again"
            )
        }
    }
}

extension CallResult {
    func give(_ request: IncomingRequest, _ flags: Flags) throws(SpaceError) {
        try give(try request.value(), flags)
        set(\.number, request.asking.work)
        set(\.pid, request.pid)
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_responder_open(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ responder: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "respond", error) { (handle) throws(SpaceError) in
        let responder = try place(responder, "the responder")
        let how = try Options(how, allowing: .base)
        let (name, key) = (try required(name, "the name"), try how.unique)
        let namespace = try handle.namespace.nonOwningHandle()
        do throws(SpaceError) {
            let requests = try RequestSource(to: name, key: key, base: how.flags.contains(.base), in: namespace)
            responder.pointee = try HandleTable.shared.open(ResponderHandle(requests))
        } catch {
            try? namespace.leave()
            throw error
        }
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_responder_next(
    _ responder: OpaquePointer!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(responder, ResponderHandle.self, error) { (responder) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let result = try CallResult(result)
        let turn = try responder.requests.nextBlocking(timeout: try how.timeout, interruption: how.interruption)
        guard let request = try responder.request(turn) else { return 0 }
        do throws(SpaceError) {
            try result.give(request, how.flags)
        } catch {
            responder.requests.giveBack(request)
            throw error
        }
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_responder_reply(
    _ responder: OpaquePointer!,
    _ number: UInt64,
    _ value: sharedspace_bytes,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(responder, ResponderHandle.self, error) { (responder) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let request = try responder.request(number)
        let reply: Result<Value, ResponderFailure> =
            if let reason = try how.reason {
                .failure(ResponderFailure(reason))
            } else {
                .success(try value.valueOrNull(how.flags))
            }
        let isWanted = responder.requests.inHand(request).isWanted
        try responder.requests.answer(request, reply)
        return isWanted ? 1 : 0
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_responder_give_back(
    _ responder: OpaquePointer!,
    _ number: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(responder, ResponderHandle.self, error) { (responder) throws(SpaceError) in
        responder.requests.giveBack(try responder.request(number))
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_responder_pass(
    _ responder: OpaquePointer!,
    _ number: UInt64,
    _ argument: sharedspace_bytes,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(responder, ResponderHandle.self, error) { (responder) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let result = try CallResult(result)
        let timeout: Duration? = if case .none = try how.wait { nil } else { try how.timeout }
        let asked = try responder.requests.namespace.requestingNext(
            of: responder.requests.inHand(try responder.request(number)).word,
            value: argument.isNothing ? nil : try argument.value(how.flags),
            timeout: timeout
        )
        return try result.give(
            reply: { () throws(SpaceError) in try asked.block(interruption: how.interruptionOfAnyWait) },
            how.flags
        )
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_responder_close(_ responder: OpaquePointer!) {
    try? HandleTable.shared.close(responder, ResponderHandle.self)
}
