public import CSharedSpace
import Glibc
import SpaceEngine
import Synchronization

/// What a `sharedspace_list` stands for.
final class List: HandleObject {
    static var kind: HandleKind { .list }

    let elements: [OutputElement]
    private let position = Atomic<Int>(0)

    init(_ elements: [OutputElement]) { self.elements = elements }

    func next() -> OutputElement? {
        let index = position.wrappingAdd(1, ordering: .relaxed).oldValue
        return elements.indices.contains(index) ? elements[index] : nil
    }
}

/// Stores a list where the caller wants it; without elements there is no list.
func store(
    _ elements: [OutputElement],
    in list: UnsafeMutablePointer<OpaquePointer?>,
    evenIfEmpty: Bool = false
) throws(SpaceError) -> Int32 {
    if elements.isEmpty, !evenIfEmpty { return 0 }
    list.pointee = try HandleTable.shared.open(List(elements))
    return 1
}

/// Where a call stores a handle: NULL until it is there.
func place(
    _ pointer: UnsafeMutablePointer<OpaquePointer?>?,
    _ what: String
) throws(SpaceError) -> UnsafeMutablePointer<OpaquePointer?> {
    guard let pointer else { throw .isNull("the place for \(what)") }
    pointer.pointee = nil
    return pointer
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_list_next(
    _ list: OpaquePointer!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(list, List.self, error) { (list) throws(SpaceError) in
        let result = try CallResult(result)
        guard let element = list.next() else { return 0 }
        try result.give(element)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_list_count(_ list: OpaquePointer!) -> Int {
    (try? HandleTable.shared.use(list, List.self) { (list) throws(SpaceError) in list.elements.count }) ?? 0
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_list_free(_ list: OpaquePointer!) {
    try? HandleTable.shared.close(list, List.self)
}

// MARK: Packing

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_pack(
    _ json: sharedspace_bytes,
    _ flags: UInt32,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    call(error) { () throws(SpaceError) in
        try SpaceError.naming("pack JSON", on: nil) { () throws(SpaceError) in
            let flags = Flags(rawValue: flags)
            try flags.check(allowing: .value)
            let result = try CallResult(result)
            if flags.contains(.value) {
                try result.give(try json.value(.json), [])
            } else {
                try result.give(try json.tuple(.json), [])
            }
            return 1
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_unpack(
    _ tuple: sharedspace_bytes,
    _ flags: UInt32,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    call(error) { () throws(SpaceError) in
        try SpaceError.naming("unpack a tuple", on: nil) { () throws(SpaceError) in
            let flags = Flags(rawValue: flags)
            try flags.check(allowing: [.value, .record])
            let result = try CallResult(result)
            if flags.contains(.value) {
                try result.give(try tuple.value([]), .json)
            } else {
                try result.give(try tuple.tuple(flags), .json)
            }
            return 1
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_result_free(_ result: UnsafeMutablePointer<sharedspace_result>!) {
    guard let result else { return }
    free(result.pointee.bytes)
    result.pointee = sharedspace_result()
    result.pointee.size = UInt32(MemoryLayout<sharedspace_result>.size)
}
