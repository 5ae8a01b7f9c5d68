public import CSharedSpace
import SpaceSystem
import TupleSpace

// The time at which a cell or a tuple ends by itself.

/// A cell, or a tuple.
private enum Lasting {
    case cell(String)
    case tuple(TupleID)

    init(_ key: UnsafePointer<CChar>?, _ id: UInt64) throws(SpaceError) {
        self = try text(key, "the key").map { .cell($0) } ?? .tuple(TupleID(rawValue: id))
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_expire(
    _ ns: OpaquePointer!,
    _ key: UnsafePointer<CChar>!,
    _ id: UInt64,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "set when it expires", error) { (handle) throws(SpaceError) in
        let namespace = handle.namespace
        let isThere =
            switch (try Lasting(key, id), try Options(how).expiry) {
            case (.cell(let key), let expiry?): try namespace.renew(key, expires: expiry)
            case (.cell(let key), nil): try namespace.persist(key)
            case (.tuple(let id), let expiry?): try namespace.renew(id, expires: expiry)
            case (.tuple(let id), nil): try namespace.persist(id)
            }
        return isThere ? 1 : 0
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_ttl(
    _ ns: OpaquePointer!,
    _ key: UnsafePointer<CChar>!,
    _ id: UInt64,
    _ left: UnsafeMutablePointer<Int64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "look when it expires", error) { (handle) throws(SpaceError) in
        guard let left else { throw .isNull("the place for the time") }
        let namespace = handle.namespace
        // The outer optional says whether it is there, the inner one whether it expires.
        let time: Duration?? =
            switch try Lasting(key, id) {
            case .cell(let key): try namespace.details(of: key).map(\.expiry)
            case .tuple(let id): try namespace.end(of: id).map { $0.timeLeft(namespace.core.clock) }
            }
        guard let time else { return 0 }
        left.pointee = time.map { Int64($0.saturatedNanoseconds / 1_000_000) } ?? SHAREDSPACE_FOREVER
        return 1
    }
}
