public import CSharedSpace
import SharedSpace
import SharedSpaceObjects
import SpaceEngine

// Shared things with names: what is passed, ruled and looked at.

/// The kinds of shared things.
private enum Thing: Int32, Choice {
    case lock = 1, semaphore, election, barrier, latch, rateLimit, counter, queue, ordered, responder

    static let refusal = (reason: "is no kind of a shared thing", advice: "see SHAREDSPACE_LOCK")
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_pass(
    _ ns: OpaquePointer!,
    _ what: Int32,
    _ name: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "wait at a shared thing", error) { (handle) throws(SpaceError) in
        let how = try Options(how)
        let name = try required(name, "the name")
        let (namespace, timeout, interruption) = (handle.namespace, try how.timeout, how.interruption)
        let hasPassed =
            switch try Thing(Int(what)) {
            case .barrier:
                try namespace.barrier(name, parties: how.permits)
                    .waitBlocking(timeout: timeout, interruption: interruption)
            case .latch:
                try namespace.latch(name, count: how.permits)
                    .waitBlocking(timeout: timeout, interruption: interruption)
            case .rateLimit:
                try namespace.rateLimit(name, limit: how.permits, per: try how.interval)
                    .acquireBlocking(how.count, timeout: timeout, interruption: interruption)
            default: throw .misuse("nothing of kind \(what) is passed", advice: "a barrier, a latch or a rate limit")
            }
        return hasPassed ? 1 : 0
    }
}

/// What is ruled for a shared thing.
private enum Rule: Int32, Choice {
    case remove = 1, count, down, permits, depose
    case pause, resume, kick, drop, cancel, extend, drain, queue, items

    static let refusal = (reason: "is nothing to rule", advice: "see SHAREDSPACE_RULE_…")
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_rule(
    _ ns: OpaquePointer!,
    _ verb: Int32,
    _ name: UnsafePointer<CChar>!,
    _ number: UInt64,
    _ how: UnsafePointer<sharedspace_how>!,
    _ outcome: UnsafeMutablePointer<Int64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "rule for a shared thing", error) { (handle) throws(SpaceError) in
        let rule = try Rule(verb)
        let how = try Options(how, allowing: rule == .remove ? .force : [])
        let name = try required(name, "the name")
        guard let made = try handle.carryOut(rule, name, number, how) else { return 0 }
        outcome?.pointee = Int64(made)
        return 1
    }
}

extension NamespaceHandle {
    /// The number that a rule results in, 1 if it results in none; `nil` if there is no object to which it applies.
    fileprivate func carryOut(_ rule: Rule, _ name: String, _ number: UInt64, _ how: Options) throws(SpaceError) -> Int?
    {
        switch rule {
        case .remove: return try remove(Thing(Int(clamping: number)), name, how)
        case .count:
            let counter = namespace.counter(name)
            return how.amount == 0 ? try counter.value() : try counter.add(how.amount)
        case .down:
            let latch = namespace.latch(name, count: how.permits)
            return number == 0 ? try latch.remaining() : try latch.countDown(by: Int(clamping: number))
        case .permits:
            try namespace.semaphore(name, permits: 1).setPermits(Int(clamping: number))
            return 1
        case .depose: return try namespace.election(name).depose(term: number == 0 ? nil : number) ? 1 : nil
        default: return try carryOut(rule, in: queue(name, how), number, how)
        }
    }

    private func carryOut(_ rule: Rule, in queue: WorkQueue, _ number: UInt64, _ how: Options) throws(SpaceError)
        -> Int?
    {
        switch rule {
        case .pause:
            let delay = try how.delay
            try queue.pause(for: delay == .zero ? nil : delay)
        case .resume: try queue.resume()
        case .kick where number == 0: return try queue.kick(max: how.max)
        case .kick: return try queue.kick(number).map { Int(clamping: $0) }
        case .drop: return try queue.remove(number) ? 1 : nil
        case .cancel: return try queue.cancel(number).map { Int($0.inC) }
        case .extend:
            guard let deadline = try how.deadline else {
                throw .misuse("there is no time to extend by", advice: "set deadline_ms")
            }
            return try queue.extend(number, by: deadline) ? 1 : nil
        case .drain: return try queue.drain()
        case .queue: try namespace.queue(queue.name).set(deliveries: how.deliveries, bound: how.bound)
        case .items:
            let counts = try queue.counts()
            let wanted = try QueueItem.Info.State.wanted(Int32(clamping: number))
            return wanted.map { counts[$0] } ?? counts.all
        default: break
        }
        return 1
    }

    /// How many items a queue had that was removed, and 1 for another thing; `nil` if there was none.
    private func remove(_ thing: Thing, _ name: String, _ how: Options) throws(SpaceError) -> Int? {
        let wasThere: Bool
        switch thing {
        case .counter: wasThere = try namespace.counter(name).remove()
        case .latch: wasThere = try namespace.latch(name, count: 0).remove()
        case .rateLimit: wasThere = try namespace.rateLimit(name, limit: 1, per: .seconds(1)).remove()
        case .semaphore: wasThere = try namespace.semaphore(name, permits: 1).remove()
        case .ordered: wasThere = try namespace.anyOrderedSet(name)?.set.remove() ?? false
        case .responder:
            guard let key = try how.unique else { throw .isNull("the responder's key") }
            wasThere = try namespace.removeResponder(to: name, key: key)
        case .queue: return try namespace.queue(name).remove(cancellingTaken: how.flags.contains(.force))
        case .lock, .election, .barrier:
            throw .misuse(
                "\(name.quotedForPeople) is not removed: it is there while processes use it",
                advice: "let it go"
            )
        }
        return wasThere ? 1 : nil
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_leader(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "look who leads", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let result = try CallResult(result)
        guard let leader = try handle.namespace.election(try required(name, "the name")).leader() else { return 0 }
        try result.give(leader.value, how.flags)
        result.set(\.number, leader.term)
        result.set(\.pid, leader.pid ?? 0)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_proclaim(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ term: UInt64,
    _ value: sharedspace_bytes,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "proclaim a leader's value", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let content = try value.valueOrNull(how.flags)
        try handle.namespace.election(try required(name, "the name")).proclaim(content, term: term)
        return 1
    }
}
