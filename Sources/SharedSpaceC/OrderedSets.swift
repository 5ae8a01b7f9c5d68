public import CSharedSpace
import SharedSpace
import SharedSpaceObjects

private enum OrderedSetVerb: Int32, Choice {
    case append = 1, insert, without, move, exchange, sort, index

    static let refusal = (reason: "is nothing to do with an ordered set", advice: "see SHAREDSPACE_APPEND")

    /// How many values it has; `nil`: any number from 1.
    var values: Int? {
        switch self {
        case .append, .insert, .without: nil
        case .move, .index: 1
        case .exchange: 2
        case .sort: 0
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_ordered(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ verb: Int32,
    _ index: Int64,
    _ values: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ outcome: UnsafeMutablePointer<Int64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "edit an ordered set", error) { (handle) throws(SpaceError) in
        let verb = try OrderedSetVerb(verb)
        let how = try Options(how, allowing: .json)
        let name = try required(name, "the name")
        let all = try SharedSpaceC.values(values, count, how.flags)
        guard verb.values.map({ $0 == all.count }) ?? !all.isEmpty else {
            throw .misuse("there are \(all.count) values", advice: "give as many as the verb has")
        }
        let edit: OrderedSetEdit
        switch verb {
        case .append: edit = .append(all)
        case .insert: edit = .insert(all, at: Int(index))
        case .without: edit = .remove(all)
        case .move: edit = .move(all[0], to: Int(index))
        case .exchange: edit = .replace(all[0], with: all[1])
        case .sort: edit = .sort
        case .index:
            guard let found = try handle.namespace.anyOrderedSet(name)?.set.firstIndex(of: all[0]) else { return 0 }
            outcome?.pointee = Int64(found)
            return 1
        }
        let done = try orSpaceError { try handle.namespace.edit(orderedSet: name, edit) }
        outcome?.pointee = Int64(done)
        return done > 0 ? 1 : 0
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_elements(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ first: Int64,
    _ how: UnsafePointer<sharedspace_how>!,
    _ list: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "look at an ordered set", error) { (handle) throws(SpaceError) in
        let list = try place(list, "the list")
        let how = try Options(how, allowing: .json)
        guard first >= 0 else { throw .misuse("\(first) is no index", advice: "give a number from 0") }
        guard let set = try handle.namespace.anyOrderedSet(try required(name, "the name"))?.set else { return 0 }
        let start = Int(first)
        let end = how.max > .max - start ? .max : start + how.max
        var elements: [OutputElement] = []
        for value in try set.elements(in: start..<end) { elements.append(try OutputElement(value, how.flags)) }
        return try store(elements, in: list)
    }
}
