/// A handle of a shared object: a lock, a semaphore, a barrier, an election, a latch, a counter, a rate limit, a queue, an
/// ordered set or a dictionary.
///
/// `namespace.lock("deploy")`, `namespace.queue("mail")` and so on make one. A handle is a value, and keeps its namespace
/// open. Its description says what it is in one line, `lock "deploy" in namespace "jobs"`, and reads nothing.
public protocol SharedObject: Sendable, CustomStringConvertible {
    /// The object's name: all shared objects of a namespace share one set of names.
    var name: String { get }
    /// The object's namespace.
    var namespace: Namespace { get }
}

/// A shared object that stays in its namespace until it is removed: a counter, a latch, a rate limit, the number of permits
/// that was set for a semaphore, a queue, an ordered set or a dictionary.
///
/// Locks, barriers and elections exist only while a process holds them or waits for them.
public protocol StoredObject: SharedObject {
    /// Removes the object with all its contents; the next use of the name starts from the beginning.
    ///
    /// - A counter begins with 0 again, a latch with its count, a rate limit without past acquisitions.
    /// - For a semaphore, the number of permits that ``SharedSemaphore/setPermits(_:)`` set is removed: the number that
    ///   the processes give counts again.
    /// - A queue is removed with all its items, even buried ones, but not while a worker has an item: see
    ///   ``WorkQueue/remove(cancellingTaken:)``.
    /// - From then on the handles of an ordered set or a dictionary throw `closed`, in all processes; its observers get a last
    ///   change.
    ///
    /// - Returns: Whether it was there.
    /// - Throws: `typeMismatch` if the name belongs to another kind of object by now; `invalidArgument` if a worker has an item of
    ///   a queue, and in the body of a transaction; and the errors of every write.
    /// - Complexity: O(n log n) in the elements; all other writers wait meanwhile, except for a queue.
    @discardableResult
    func remove() throws(SpaceError) -> Bool
}

/// What a handle is made of.
package protocol ObjectHandle: SharedObject {
    var object: ObjectReference { get }
    /// What the description says behind the name: ` of 4 permits`.
    var detail: String { get }
}

extension ObjectHandle {
    /// The name.
    public var name: String { object.name }
    /// The namespace.
    public var namespace: Namespace { object.context.namespace }

    /// What the handle is, in one line.
    public var description: String {
        "\(object.kind.word) \(name.quotedForPeople)\(detail) in namespace \(namespace.name.quotedForPeople)"
    }

    package var detail: String { "" }
    package var context: ObjectContext { object.context }
}

/// The handle of an object that can be removed.
package protocol StoredHandle: ObjectHandle, StoredObject {
    /// What a removal is called in errors.
    var removal: String { get }

    /// Removes the object, and returns whether it was there.
    func remove(_ core: NamespaceCore) throws(SpaceError) -> Bool
}

extension StoredHandle {
    package var removal: String { "remove \(object.kind.phrase)" }

    /// Removes the object.
    @discardableResult
    public func remove() throws(SpaceError) -> Bool {
        try object.attempt(removal) { (core) throws(SpaceError) in try remove(core) }
    }
}

/// An object's kind and name, and where it is read and edited.
package struct ObjectReference: Sendable {
    package let context: ObjectContext
    package let name: String
    package let kind: SharedObjectKind

    package init(_ kind: SharedObjectKind, _ name: String, in context: ObjectContext) {
        self.context = context
        self.name = name
        self.kind = kind
    }

    package init(_ kind: SharedObjectKind, _ name: String, in namespace: Namespace) {
        self.init(kind, name, in: .namespace(namespace))
    }

    /// Runs `body` as one operation on the object.
    package func attempt<Result>(
        _ operation: String,
        _ body: (NamespaceCore) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try context.namespace.attempt(operation) { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            return try body(core)
        }
    }
}
