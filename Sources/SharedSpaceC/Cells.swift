public import CSharedSpace
import TupleSpace

extension Flags {
    /// Of the call that sets a cell.
    fileprivate static let conditions: Flags = [.ifAbsent, .ifEqual, .ifVersion]
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_get(
    _ ns: OpaquePointer!,
    _ key: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "get a cell", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let result = try CallResult(result)
        let key = try required(key, "the key")
        let cells = handle.namespace
        let cell =
            if case .none = try how.wait {
                try cells.details(of: key)
            } else {
                try cells.detailsBlocking(of: key, timeout: try how.timeout, interruption: how.interruption)
            }
        guard let cell else { return 0 }
        try result.give(cell.value, how.flags)
        result.set(\.number, cell.version)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_set(
    _ ns: OpaquePointer!,
    _ key: UnsafePointer<CChar>!,
    _ value: sharedspace_bytes,
    _ how: UnsafePointer<sharedspace_how>!,
    _ old: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "set a cell", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: Flags.conditions.union([.json, .ownLifetime]))
        let old = try CallResult.ifWanted(old)
        let key = try required(key, "the key")
        let value = try value.value(how.flags)
        let (expiry, lifetime) = (try how.expiry, how.lifetime)
        let cells = handle.namespace
        if how.flags.intersection(.conditions).rawValue.nonzeroBitCount > 1 {
            throw .misuse("the conditions exclude each other", advice: "give one of them")
        }
        if how.flags.contains(.ifVersion) {
            return try cells.set(key, value, ifVersion: how.version, expires: expiry, lifetime: lifetime) ? 1 : 0
        }
        if how.flags.contains(.ifAbsent) {
            return try cells.setIfAbsent(key, value, expires: expiry, lifetime: lifetime) ? 1 : 0
        }
        if how.flags.contains(.ifEqual) {
            let expected = try how.value.value(how.flags)
            return try cells.set(key, value, ifEquals: expected, expires: expiry, lifetime: lifetime) ? 1 : 0
        }
        let before = try cells.set(key, value, expires: expiry, lifetime: lifetime)
        if let before { try old?.give(before, how.flags) }
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_unset(
    _ ns: OpaquePointer!,
    _ key: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ old: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "unset a cell", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let old = try CallResult.ifWanted(old)
        guard let before = try handle.namespace.unset(try required(key, "the key")) else { return 0 }
        try old?.give(before, how.flags)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_add(
    _ ns: OpaquePointer!,
    _ key: UnsafePointer<CChar>!,
    _ amount: Int64,
    _ sum: UnsafeMutablePointer<Int64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "add to a cell", error) { (handle) throws(SpaceError) in
        let made = try handle.namespace.increment(try required(key, "the key"), by: Int(amount))
        sum?.pointee = Int64(made)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_cells(
    _ ns: OpaquePointer!,
    _ pattern: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ list: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "get the cells", error) { (handle) throws(SpaceError) in
        let list = try place(list, "the list")
        let how = try Options(how, allowing: .json)
        let pattern = try text(pattern, "the pattern")
        let cells = try handle.namespace.cells(pattern.map { .matching($0) } ?? .all)
        return try store(cells.map { OutputElement(enclosing: [.string($0.key), $0.value], how.flags) }, in: list)
    }
}
