public import CSharedSpace
import SpaceInspection

// What is out of sight: claimed, or buried.

extension NamespaceHandle {
    /// The claims, or what is buried, that a template matches, at most `max`.
    func outOfSight(buried: Bool, _ template: Template, max: Int, _ flags: Flags) throws(SpaceError) -> [OutputElement]
    {
        var elements: [OutputElement] = []
        try orSpaceError {
            do {
                try namespace.forEachClaimPart(buried: buried) { (claims) in
                    for claim in claims where template.matches(claim.held.tuple) {
                        guard elements.count < max else { throw Enough() }
                        var element = OutputElement(claim.held.tuple, flags)
                        (element.id, element.deliveries) = (claim.held.id.rawValue, claim.held.deliveries)
                        if !buried { (element.number, element.pid) = (claim.held.number, claim.pid ?? 0) }
                        element.time = claim.deadline ?? 0
                        elements.append(element)
                    }
                }
            } catch is Enough {}
        }
        return elements
    }

    private struct Enough: Error {}
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_bury(
    _ ns: OpaquePointer!,
    _ templates: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int64 {
    counting(ns, "bury tuples", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: [.record, .json, .exact])
        return try handle.namespace.bury(matching: try template(templates, count, how.flags), max: how.max)
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_kick(
    _ ns: OpaquePointer!,
    _ templates: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int64 {
    counting(ns, "put back what was buried", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: [.record, .json, .exact])
        if let id = how.id { return try handle.namespace.kick(id: TupleID(rawValue: id)) ? 1 : 0 }
        return try handle.namespace.kick(matching: try template(templates, count, how.flags), max: how.max)
    }
}

/// Runs the body of a call on a namespace that says how many.
func counting(
    _ ns: OpaquePointer?,
    _ operation: @autoclosure () -> String,
    _ error: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (NamespaceHandle) throws(SpaceError) -> Int
) -> Int64 {
    var number: Int64 = 0
    let outcome = use(ns, operation(), error) { (handle) throws(SpaceError) in
        number = Int64(try body(handle))
        return 1
    }
    return outcome < 0 ? -1 : number
}
