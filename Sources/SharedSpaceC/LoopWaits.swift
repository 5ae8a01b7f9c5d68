public import CSharedSpace
import SharedSpace
import SharedSpaceObjects
import SpaceEngine
import SpaceRecipes
import TupleSpace

/// What a loop waits for in a namespace.
private enum Awaited: Int32, Choice {
    case read = 1, take, claim, cell, lock, semaphore, election, barrier, latch, rateLimit, item, reply

    static let refusal = (reason: "is nothing to wait for", advice: "see SHAREDSPACE_WAIT_…")

    /// The flags of the call that blocks the thread.
    var flags: Flags {
        switch self {
        case .read, .take, .claim: searching
        case .lock, .semaphore, .election: [.shared, .json]
        case .cell, .item: .json
        case .reply: [.json, .now]
        case .barrier, .latch, .rateLimit: []
        }
    }

    var isTuple: Bool { self == .read || self == .take || self == .claim }
}

extension NamespaceHandle {
    /// The work of a wait for tuples.
    fileprivate func work(_ awaited: Awaited, _ template: Template, _ how: Options) throws(SpaceError) -> LoopWork {
        let (flags, order, wait, deadline) = (how.flags, how.order, try how.wait, try how.deadline)
        if awaited == .read {
            return { () async throws(SpaceError) in
                let found = try await self.namespace.readSuspending(template, order, wait) {
                    (match) throws(SpaceError) in try OutputElement(match, flags)
                }
                return LoopOutcome(found)
            }
        }
        let isTake = awaited == .take
        return { () async throws(SpaceError) in
            let claim = try await self.namespace.claimSuspending(
                template,
                order,
                deadline: isTake ? nil : deadline,
                isTake: isTake,
                wait
            )
            guard let claim else { return .nothing }
            return LoopOutcome { (result) throws(SpaceError) in
                try result.give(claim, flags)
                if isTake {
                    try self.namespace.complete([claim])
                    result.set(\.number, 0)
                } else {
                    try self.keep([claim])
                }
                return 1
            } giveBack: {
                self.namespace.core.claiming.releaseOrRemember(claim, wasDelivered: false)
            }
        }
    }

    /// The work of a wait for something that has a name.
    fileprivate func work(_ awaited: Awaited, _ names: [String], _ how: Options) throws(SpaceError) -> LoopWork {
        let (namespace, name, timeout, flags) = (namespace, names[0], try how.timeout, how.flags)
        if awaited != .lock, names.count > 1 {
            throw .misuse("only for locks a wait has several names", advice: "begin a wait for each")
        }
        switch awaited {
        case .read, .take, .claim: throw .isNull("the template")
        case .cell:
            return { () async throws(SpaceError) in
                guard let cell = try await namespace.details(of: name, timeout: timeout) else { return .nothing }
                var element = try OutputElement(cell.value, flags)
                element.number = cell.version
                return LoopOutcome(element)
            }
        case .lock:
            let mode: SharedLock.Mode = flags.contains(.shared) ? .shared : .exclusive
            return holding(flags) { () async throws(SpaceError) in
                try await namespace.acquireOrTell(names, mode, timeout: timeout)
            }
        case .semaphore:
            let (semaphore, count) = (namespace.semaphore(name, permits: how.permits), how.count)
            return holding(flags) { () async throws(SpaceError) in
                KeptHold.alone(try await semaphore.acquireOrTell(count, timeout: timeout))
            }
        case .election:
            let value = try how.valueOrNull
            return holding(flags) { () async throws(SpaceError) in
                KeptHold.alone(try await namespace.election(name).acquireOrTell(value, timeout: timeout))
            }
        case .barrier:
            let barrier = namespace.barrier(name, parties: how.permits)
            return reaching(timeout, { () async throws(SpaceError) in try await barrier.wait() }) {
                (timeout) async throws(SpaceError) in try await barrier.wait(timeout: timeout)
            }
        case .latch:
            let latch = namespace.latch(name, count: how.permits)
            return reaching(timeout, { () async throws(SpaceError) in try await latch.wait() }) {
                (timeout) async throws(SpaceError) in try await latch.wait(timeout: timeout)
            }
        case .rateLimit:
            let (limit, count) = (namespace.rateLimit(name, limit: how.permits, per: try how.interval), how.count)
            return reaching(timeout, { () async throws(SpaceError) in try await limit.acquire(count) }) {
                (timeout) async throws(SpaceError) in try await limit.acquire(count, timeout: timeout)
            }
        case .reply:
            let asked = try request(name, try how.valueOrNull, how)
            return { () async throws(SpaceError) in
                let answer: Result<Requesting.Reply, SpaceError>
                do throws(SpaceError) { answer = .success(try await asked.suspend()) } catch {
                    guard error.isOfNoAnswer else { throw error }
                    answer = .failure(error)
                }
                return LoopOutcome { (result) throws(SpaceError) in
                    try result.give(reply: answer.get, flags)
                }
            }
        case .item:
            let (queue, deadline) = (queue(name, how), try how.deadline)
            return { () async throws(SpaceError) in
                let taken =
                    if let timeout {
                        try await queue.take(timeout: timeout, deadline: deadline)
                    } else {
                        try await queue.take(deadline: deadline)
                    }
                guard let item = taken else { return .nothing }
                let element = try OutputElement(item, flags)
                let kept = KeptItem(try item.detach().withoutValue().attach())
                return LoopOutcome { (result) throws(SpaceError) in
                    try result.give(element)
                    try self.keep(kept)
                    return 1
                } giveBack: {
                    kept.item.returnUnseen()
                }
            }
        }
    }

    /// The work of a wait for holds.
    private func holding(
        _ flags: Flags,
        _ acquire: @escaping @Sendable () async throws(SpaceError) -> (all: [KeptHold], fencing: [UInt64])
    ) -> LoopWork {
        { () async throws(SpaceError) in
            do throws(SpaceError) {
                let (holds, fencing) = try await acquire()
                return LoopOutcome { (result) throws(SpaceError) in
                    try self.give(holds, fencing, flags, result)
                    return 1
                } giveBack: {
                    // One that can't be released now is released with its last reference.
                    for held in holds { try? held.hold.release() }
                }
            } catch  where error.code == .timedOut {
                let holder = error.holder ?? 0
                return LoopOutcome { (result) throws(SpaceError) in
                    result.set(\.pid, holder)
                    return 0
                }
            }
        }
    }
}

/// The work of a wait that obtains nothing.
private func reaching(
    _ timeout: Duration?,
    _ wait: @escaping @Sendable () async throws(SpaceError) -> Void,
    _ waitUpTo: @escaping @Sendable (Duration) async throws(SpaceError) -> Bool
) -> LoopWork {
    { () async throws(SpaceError) in
        if let timeout, try await !waitUpTo(timeout) { return .nothing }
        if timeout == nil { try await wait() }
        return LoopOutcome { _ in 1 }
    }
}

extension LoopOutcome {
    /// What was read; nothing has to go back.
    fileprivate init(_ element: OutputElement?) {
        self.init { (result) throws(SpaceError) in
            guard let element else { return 0 }
            try result.give(element)
            return 1
        }
    }
}

extension Watch {
    /// The work of a wait for the next change.
    fileprivate func work(_ timeout: Duration?, _ flags: Flags) -> LoopWork {
        { () async throws(SpaceError) in
            do throws(SpaceError) {
                let change = try await self.next(timeout: timeout)
                return LoopOutcome { (result) throws(SpaceError) in
                    if let change { try result.give(change, flags) }
                    self.endWait()
                    return change == nil ? 0 : 1
                } giveBack: {
                    self.endWait(returning: change)
                }
            } catch {
                return LoopOutcome(error) { self.endWait() }
            }
        }
    }
}

extension ResponderHandle {
    /// The work of a wait for the next request.
    fileprivate func work(_ timeout: Duration?, _ flags: Flags) -> LoopWork {
        { () async throws(SpaceError) in
            guard let request = try self.request(try await self.requests.next(timeout: timeout)) else {
                return .nothing
            }
            return LoopOutcome { (result) throws(SpaceError) in
                try result.give(request, flags)
                return 1
            } giveBack: {
                self.requests.giveBack(request)
            }
        }
    }
}

// MARK: Calls

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_open(
    _ loop: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    call(error) { () throws(SpaceError) in
        try SpaceError.naming("open a loop", on: nil) { () throws(SpaceError) in
            let loop = try place(loop, "the loop")
            // It starts threads, which a child made by fork would not have.
            try LibraryUse.begin()
            loop.pointee = try HandleTable.shared.open(Loop())
            return 1
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_close(_ loop: OpaquePointer!) {
    try? HandleTable.shared.close(loop, Loop.self)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_descriptor(
    _ loop: OpaquePointer!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(loop, Loop.self, error) { (loop) throws(SpaceError) in loop.descriptor }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_begin(
    _ loop: OpaquePointer!,
    _ token: UInt64,
    _ ns: OpaquePointer!,
    _ what: Int32,
    _ templates: UnsafePointer<sharedspace_bytes>!,
    _ names: UnsafePointer<UnsafePointer<CChar>?>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(loop, Loop.self, error) { (loop) throws(SpaceError) in
        try HandleTable.shared.use(ns, NamespaceHandle.self) { (handle) throws(SpaceError) in
            try SpaceError.naming("begin a wait", on: handle.namespace.name) { () throws(SpaceError) in
                let awaited = try Awaited(what)
                let how = try Options(how, allowing: awaited.flags)
                let work =
                    awaited.isTuple
                    ? try handle.work(awaited, try template(templates, count, how.flags), how)
                    : try handle.work(awaited, try SharedSpaceC.names(names, count), how)
                try loop.begin(token, work)
                return 1
            }
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_watch(
    _ loop: OpaquePointer!,
    _ token: UInt64,
    _ watch: OpaquePointer!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(loop, Loop.self, error) { (loop) throws(SpaceError) in
        try HandleTable.shared.use(watch, Watch.self) { (watch) throws(SpaceError) in
            let how = try Options(how, allowing: .json)
            let work = watch.work(try how.timeout, how.flags)
            try watch.beginWait()
            do throws(SpaceError) {
                try loop.begin(token, of: watch, work)
            } catch {
                watch.endWait()
                throw error
            }
            return 1
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_responder(
    _ loop: OpaquePointer!,
    _ token: UInt64,
    _ responder: OpaquePointer!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(loop, Loop.self, error) { (loop) throws(SpaceError) in
        try HandleTable.shared.use(responder, ResponderHandle.self) { (responder) throws(SpaceError) in
            let how = try Options(how, allowing: .json)
            try loop.begin(token, responder.work(try how.timeout, how.flags))
            return 1
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_cancel(
    _ loop: OpaquePointer!,
    _ token: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(loop, Loop.self, error) { (loop) throws(SpaceError) in loop.cancel(token) ? 1 : 0 }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_loop_next(
    _ loop: OpaquePointer!,
    _ token: UnsafeMutablePointer<UInt64>!,
    _ outcome: UnsafeMutablePointer<Int32>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(loop, Loop.self, error) { (loop) throws(SpaceError) in
        guard let token, let outcome else { throw .isNull("the place for the token or the outcome") }
        let result = try CallResult(result)
        guard let next = loop.next() else { return 0 }
        token.pointee = next.token
        do throws(SpaceError) {
            outcome.pointee = try next.outcome.handOut(result)
        } catch let failure {
            next.outcome.giveBack()
            result.clear()
            outcome.pointee = -1
            tell(failure, error)
        }
        return 1
    }
}
