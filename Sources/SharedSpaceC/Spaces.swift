public import CSharedSpace
import Glibc
import SharedSpace
import SpaceInspection
import SpaceSystem
import TupleCoding

/// What a `sharedspace` stands for.
final class SpaceHandle: HandleObject {
    static var kind: HandleKind { .space }

    let space: Space

    init(_ space: Space) { self.space = space }
}

// Unsafe, because a pointer is not Sendable: the text is written once, and stays.
private nonisolated(unsafe) let version = strdup(Space.version)

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_version() -> UnsafePointer<CChar>! { UnsafePointer(version) }

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_abi() -> UInt32 { UInt32(SHAREDSPACE_ABI) }

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_open(
    _ root: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ space: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    call(error) { () throws(SpaceError) in
        try SpaceError.naming("open the space", on: nil) { () throws(SpaceError) in
            let space = try place(space, "the space")
            let timeout = try Options(how).lockTimeout
            let opened = try Space(root: try text(root, "the root"), timeout: timeout ?? .seconds(5))
            space.pointee = try HandleTable.shared.open(SpaceHandle(opened))
            return 1
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_close(_ space: OpaquePointer!) {
    try? HandleTable.shared.close(space, SpaceHandle.self)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_names(
    _ space: OpaquePointer!,
    _ list: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(space, SpaceHandle.self, error) { (handle) throws(SpaceError) in
        let list = try place(list, "the list")
        let names = try handle.space.namespaceNames()
        return try store(names.map { OutputElement(text: $0) }, in: list, evenIfEmpty: true)
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_delete(
    _ space: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(space, SpaceHandle.self, error) { (handle) throws(SpaceError) in
        do throws(SpaceError) {
            try handle.space.delete(try required(name, "the name"))
        } catch  where error.code == .namespaceNotFound {
            return 0
        }
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_reap(
    _ space: OpaquePointer!,
    _ list: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(space, SpaceHandle.self, error) { (handle) throws(SpaceError) in
        list?.pointee = nil
        let names = try handle.space.reap()
        if let list { _ = try store(names.map { OutputElement(text: $0) }, in: list, evenIfEmpty: true) }
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_await(
    _ space: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(space, SpaceHandle.self, error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .gone)
        let deadline = MonotonicInstant.deadline(after: try how.timeout) ?? .distantFuture
        let existence = Existence(space: handle.space, name: try required(name, "the name"))
        return try orSpaceError {
            try existence.wait(
                for: how.flags.contains(.gone) ? .gone : .existing,
                until: deadline,
                interruption: how.interruption
            )
        } ? 1 : 0
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_ns_open(
    _ space: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ ns: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(space, SpaceHandle.self, error) { (handle) throws(SpaceError) in
        try SpaceError.naming("open the namespace", on: nil) { () throws(SpaceError) in
            // This comes first: a child of another thread's fork must not find the following steps half done.
            try LibraryUse.begin()
            let ns = try place(ns, "the namespace")
            let how = try Options(how, allowing: [.observer, .persistent])
            let options = NamespaceOptions(
                mode: try how.mode,
                isPersistent: how.flags.contains(.persistent),
                byteLimit: how.byteLimit
            )
            let opened = try handle.space.namespace(
                try required(name, "the name"),
                owning: !how.flags.contains(.observer),
                options: options
            )
            ns.pointee = try HandleTable.shared.open(NamespaceHandle(opened))
            return 1
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_ns_close(
    _ ns: OpaquePointer!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    if LibraryUse.isInherited { return 1 }
    return call(error) { () throws(SpaceError) in
        try HandleTable.shared.close(ns, NamespaceHandle.self)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_ns_show(
    _ ns: OpaquePointer!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "look at the namespace", error) { (handle) throws(SpaceError) in
        let result = try CallResult(result)
        try result.copy(text: StatusReport(status: try handle.namespace.status()).object.json)
        return 1
    }
}

/// What is ruled for a namespace.
private enum NamespaceRule: Int32, Choice {
    case owner = 1, noOwner, persistent, deliveries, history

    static let refusal = (reason: "is nothing to rule", advice: "see SHAREDSPACE_NS_…")
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_ns_set(
    _ ns: OpaquePointer!,
    _ what: Int32,
    _ number: Int64,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "rule for a namespace", error) { (handle) throws(SpaceError) in
        let how = try Options(how)
        let namespace = handle.namespace
        switch try NamespaceRule(what) {
        case .owner:
            guard let pid = Int32(exactly: number) else { throw .noSuchProcess(number) }
            try namespace.addOwner(pid: pid)
        case .noOwner:
            guard let pid = Int32(exactly: number) else { return 0 }
            return try namespace.removeOwner(pid: pid) ? 1 : 0
        case .persistent: try namespace.setPersistent(number != 0)
        case .deliveries: try namespace.setDeliveryLimit(number == 0 ? nil : Int(number))
        case .history:
            try namespace.setHistory(number == 0 ? nil : History(changes: Int(number), bytes: how.byteLimit))
        }
        return 1
    }
}

extension SpaceError {
    /// The error for a number that no process can have.
    fileprivate static func noSuchProcess(_ number: Int64) -> SpaceError {
        SpaceError(
            .noSuchProcess,
            reason: "there is no process \(number): a PID has 32 bits",
            advice: "name a process that lives as long as the namespace is to"
        )
    }
}
