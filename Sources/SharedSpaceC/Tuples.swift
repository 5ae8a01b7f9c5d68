public import CSharedSpace
import SharedSpace

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_write(
    _ ns: OpaquePointer!,
    _ tuples: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ ids: UnsafeMutablePointer<UInt64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "write", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: [.record, .json, .ownLifetime])
        let tuples = try given(tuples, count, "the tuple")
        let (expiry, lifetime) = (try how.expiry, how.lifetime)
        if tuples.count == 1, !how.flags.contains(.json) {
            let tuple = try tuples[0].encodedTuple(how.flags)
            let id = try handle.namespace.insert(tuple, expiry, lifetime)
            ids?.pointee = id.rawValue
            return 1
        }
        var all: [Tuple] = []
        all.reserveCapacity(tuples.count)
        for tuple in tuples { all.append(try tuple.tuple(how.flags)) }
        let made = try handle.namespace.write(contentsOf: all, expires: expiry, lifetime: lifetime)
        if let ids { for (index, id) in made.enumerated() { ids[index] = id.rawValue } }
        return 1
    }
}

/// What is done with the tuples that are found.
private enum TupleUse: Int32, Choice {
    case read = 1, take, claim, lookClaimed, lookBuried

    static let refusal = (reason: "is nothing to look for", advice: "read, take or claim: see SHAREDSPACE_READ")
}

let searching: Flags = [.record, .json, .newest, .exact]

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_find(
    _ ns: OpaquePointer!,
    _ what: Int32,
    _ templates: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "find a tuple", error) { (handle) throws(SpaceError) in
        let search = try TupleUse(what)
        let how = try Options(how, allowing: searching)
        let result = try CallResult(result)
        let template = try KnownTemplate.template(templates, count, how.flags, last: handle.lastTemplate)
        if search == .lookClaimed || search == .lookBuried {
            throw .misuse("claims and what is buried are looked at as a list", advice: "call sharedspace_find_all")
        }
        if search == .claim {
            let claim = try handle.namespace.claimBlocking(
                template,
                how.order,
                deadline: try how.deadline,
                try how.wait,
                interruption: how.interruption
            ) { (match) throws(SpaceError) in try result.give(match, how.flags) }
            guard let claim else {
                // There may have been one that another process claimed first.
                result.clear()
                return 0
            }
            try handle.keep(claim)
            result.set(id: claim.id.rawValue, number: claim.number, deliveries: claim.deliveries)
            return 1
        }
        let isFound = try handle.namespace.findBlocking(
            template,
            isTaking: search == .take,
            how.order,
            try how.wait,
            interruption: how.interruption
        ) { (match) throws(SpaceError) in try result.give(match, how.flags) }
        // There may have been one that another process took first.
        if !isFound { result.clear() }
        return isFound ? 1 : 0
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_find_all(
    _ ns: OpaquePointer!,
    _ what: Int32,
    _ templates: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ list: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "find tuples", error) { (handle) throws(SpaceError) in
        let search = try TupleUse(what)
        let list = try place(list, "the list")
        let how = try Options(how, allowing: searching)
        let template = try template(templates, count, how.flags)
        var elements: [OutputElement] = []
        switch search {
        case .read:
            for match in try handle.namespace.matches(template, order: how.order, max: how.max) {
                elements.append(try OutputElement(match, how.flags))
            }
        case .take:
            elements = try handle.namespace.takeMatches(template, order: how.order, max: how.max) {
                (match) throws(SpaceError) in
                try OutputElement(match, how.flags)
            }
        case .claim:
            let claims = try handle.namespace.claimAll(
                matching: template,
                order: how.order,
                max: how.max,
                deadline: try how.deadline
            )
            try handle.keep(claims)
            elements = claims.map { OutputElement($0, how.flags) }
        case .lookClaimed, .lookBuried:
            elements = try handle.outOfSight(buried: search == .lookBuried, template, max: how.max, how.flags)
        }
        return try store(elements, in: list)
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_count(
    _ ns: OpaquePointer!,
    _ templates: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int64 {
    counting(ns, "count", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: [.record, .json, .exact])
        return try handle.namespace.count(matching: try template(templates, count, how.flags))
    }
}

// MARK: Ends

private enum End: Int32, Choice {
    case complete = 1, release, bury, extend, drop

    static let refusal = (reason: "is no end of a claim", advice: "complete, release, bury, extend or drop")
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_end(
    _ ns: OpaquePointer!,
    _ number: UInt64,
    _ end: Int32,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "end a claim", error) { (handle) throws(SpaceError) in
        let end = try End(end)
        if end == .drop {
            handle.drop(number)
            return 1
        }
        let how = try Options(how, allowing: .keep)
        let deadline = try how.deadline
        if end == .extend, deadline == nil {
            throw .misuse("there is no time to extend by", advice: "set deadline_ms")
        }
        let ending: ClaimEnd =
            switch end {
            case .complete: .complete(keeping: how.flags.contains(.keep))
            case .release, .drop: .release(delay: try how.delay)
            case .bury: .bury
            case .extend: .extend(by: deadline ?? .zero)
            }
        let tuple = handle.takeOut(claim: number)
        if tuple == nil, let kept = handle.item(number) { return try finish(kept, number, end, how, in: handle) }
        let stood: Bool
        do throws(SpaceError) {
            stood = try handle.namespace.end(claimNumbered: number, on: tuple, ending)
        } catch {
            if error.code != .claimLost, let tuple { try? handle.keep(HeldClaim(number: number, on: tuple)) }
            throw error
        }
        if end == .extend, let tuple { try handle.keep(HeldClaim(number: number, on: tuple)) }
        return stood ? 1 : 0
    }
}

/// Ends or extends an item of a queue.
private func finish(
    _ kept: KeptItem,
    _ number: UInt64,
    _ end: End,
    _ how: Options,
    in handle: NamespaceHandle
) throws(SpaceError) -> Int32 {
    do throws(SpaceError) {
        switch end {
        case .complete where how.flags.contains(.keep): try kept.item.keep()
        case .complete: try kept.item.complete()
        case .release, .drop:
            let priority = how.priority == 0 ? nil : how.priority
            try kept.item.giveBack(delay: try how.delay, priority: priority)
        case .bury: try kept.item.bury(reason: try how.reason)
        case .extend: try kept.item.extend(by: try how.deadline ?? .zero)
        }
    } catch {
        if error.code == .holdLost { handle.forget(item: number) }
        throw error
    }
    if end != .extend { handle.forget(item: number) }
    return 1
}
