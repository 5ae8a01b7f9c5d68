import SharedSpaceObjects

/// Works on objects that have a name and a type in a namespace: locks and ordered sets.
enum SharedObjects {
    static func lock(_ space: Space, _ count: Int) throws {
        let lock = try space.namespace("bench").lock("turn")
        try measure("lock", count) { _ in
            guard let hold = try lock.tryAcquire() else { throw Failure("nobody else can hold it") }
            try hold.release()
        }
    }

    /// An ordered set of so many elements.
    static func orderedSet(_ space: Space, _ size: Int) throws {
        let set = try space.namespace("bench").orderedSet("numbers", of: Int.self)
        for start in stride(from: 0, to: size, by: 1000) { try set.append(contentsOf: start..<min(start + 1000, size)) }
        let count = 2000
        try measure("index of an element", count) {
            guard try set.firstIndex(of: scattered($0, size)) == scattered($0, size) else { throw Failure("not there") }
        }
        try measure("element at an index", count) {
            guard try set[scattered($0, size)] == scattered($0, size) else { throw Failure("not there") }
        }
        try measure("insert at an index", count) {
            guard try set.insert(size + $0, at: scattered($0, size)).inserted else { throw Failure("there already") }
        }
        try measure("move to an index", count) { try set.move(from: scattered($0, size), to: scattered($0 + 1, size)) }
        try measure("replace at an index", count) { _ = try set.replace(at: scattered($0, size), with: -1 - $0) }
        try measure("remove at an index", count) { _ = try set.remove(at: scattered($0, size)) }
        guard try set.count == size else { throw Failure("miscounted") }
    }
}
