public import CSharedSpace
import SpaceEngine
import SpaceRecipes
import TupleCoding

extension NamespaceHandle {
    func queue(_ name: UnsafePointer<CChar>?, _ how: Options) throws(SpaceError) -> WorkQueue {
        queue(try required(name, "the queue's name"), how)
    }

    func queue(_ name: String, _ how: Options) -> WorkQueue {
        namespace.queue(name, deliveries: how.deliveries, bound: how.bound)
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_put(
    _ ns: OpaquePointer!,
    _ queue: UnsafePointer<CChar>!,
    _ items: UnsafePointer<sharedspace_bytes>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ numbers: UnsafeMutablePointer<UInt64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "put an item into a queue", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: [.json, .replace, .again])
        let queue = try handle.queue(queue, how)
        let rule = try how.uniqueRule
        let items = try given(items, count, "the item")
        let (delay, group, unique) = (try how.delay, try how.group, try how.unique)
        if items.count == 1 {
            let put = try queue.putBlocking(
                try items[0].value(how.flags),
                priority: how.priority,
                delay: delay,
                group: group,
                unique: unique,
                ifPresent: rule,
                try how.wait,
                interruption: how.interruption
            )
            numbers?.pointee = put?.id ?? 0
            switch put {
            case .added?, .replaced?: return 1
            case .present?, nil: return 0
            }
        }
        if unique != nil { throw .misuse("a unique key is for one item", advice: "put the items one by one") }
        if case .none = try how.wait {
        } else {
            throw .misuse("several items don't wait for room", advice: "put them one by one")
        }
        let made = try queue.put(
            contentsOf: try values(items.baseAddress, items.count, how.flags),
            priority: how.priority,
            delay: delay,
            group: group
        )
        if let numbers { for (index, number) in made.enumerated() { numbers[index] = number } }
        return 1
    }
}

extension Options {
    /// What a put does if an item with its key is in the queue.
    fileprivate var uniqueRule: UniqueRule {
        get throws(SpaceError) {
            switch (flags.contains(.replace), flags.contains(.again)) {
            case (false, false): return .keep
            case (true, true): throw .misuse("an item replaces another one, or comes again", advice: "give one flag")
            case (true, false): return .replace
            case (false, true): return .again
            }
        }
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_item(
    _ ns: OpaquePointer!,
    _ queue: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "take an item from a queue", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let result = try CallResult(result)
        let (queue, ttr) = (try handle.queue(queue, how), try how.deadline)
        let taken =
            if let id = how.id {
                try queue.take(id, deadline: ttr)
            } else {
                try queue.takeBlocking(timeout: try how.timeout, deadline: ttr, interruption: how.interruption)
            }
        guard let item = taken else { return 0 }
        // If the caller can't learn of it, it returns with the last reference.
        try result.give(try OutputElement(item, how.flags))
        try handle.keep(KeptItem(try item.detach().withoutValue().attach()))
        return 1
    }
}

extension QueueItem.Info.State {
    /// The states in the order of C's numbers, which begin with 1.
    private static let inC: [QueueItem.Info.State] = [.ready, .delayed, .taken, .blocked, .buried]

    /// C's number.
    var inC: UInt32 { UInt32((Self.inC.firstIndex(of: self) ?? -1) + 1) }

    /// The state with a number of C's; `nil` for any.
    static func wanted(_ number: Int32) throws(SpaceError) -> QueueItem.Info.State? {
        guard (0...Int32(inC.count)).contains(number) else {
            throw .misuse("\(number) is no state of an item", advice: "see SHAREDSPACE_ITEM_…")
        }
        return number == 0 ? nil : inC[Int(number) - 1]
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_items(
    _ ns: OpaquePointer!,
    _ queue: UnsafePointer<CChar>!,
    _ state: Int32,
    _ how: UnsafePointer<sharedspace_how>!,
    _ list: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "look at the items of a queue", error) { (handle) throws(SpaceError) in
        let list = try place(list, "the list")
        let how = try Options(how, allowing: .json)
        var elements: [OutputElement] = []
        let wanted = try QueueItem.Info.State.wanted(state)
        for item in try handle.queue(queue, how).items(in: wanted, max: how.max) {
            var element = try OutputElement(item.value, how.flags)
            (element.id, element.deliveries) = (item.id, item.deliveries)
            element.kind = item.state.inC
            elements.append(element)
        }
        return try store(elements, in: list)
    }
}
