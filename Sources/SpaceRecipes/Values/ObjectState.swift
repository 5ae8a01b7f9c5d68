import SpaceSystem

/// An object that is one value with a name and a kind: a counter, a latch, a rate limit.
///
/// The value is read in a snapshot and changed in one write transaction, which wakes the waiters for the object.
/// (`tools/model/check valuing` searches all orders of these steps.)
package struct ObjectState: Sendable {
    package let object: ObjectReference
    /// What watchers get of the value, or `nil` if its changes are not reported to them.
    private let told: (@Sendable (Value) -> Value)?

    package init(
        namespace: Namespace,
        name: String,
        kind: SharedObjectKind,
        told: (@Sendable (Value) -> Value)? = nil
    ) {
        object = ObjectReference(kind, name, in: namespace)
        self.told = told
    }

    private var name: String { object.name }
    private var kind: SharedObjectKind { object.kind }

    /// The result of `body` for the value, which is `nil` if no process has made it yet.
    package func look<Result>(
        _ operation: String,
        _ body: (Value?) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try object.attempt(operation) { (core) throws(SpaceError) in try body(try read(core)) }
    }

    /// Changes the value, or makes it from `nil`; if `body` leaves `nil`, the object is removed.
    package func change<Result>(
        _ operation: String,
        _ body: (inout Value?, Snapshot) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try object.attempt(operation) { (core) throws(SpaceError) in
            do throws(SpaceError) {
                return try change(core, .adding, body)
            } catch  where error.isOfStorage {
                // An existing object takes no more disk space when it changes, so this may use the reserve that is kept
                // for removals.
                return try change(core, .removing, noRoomToMake: error, body)
            }
        }
    }

    /// Removes the object, and returns whether it was there.
    func remove(_ core: NamespaceCore) throws(SpaceError) -> Bool {
        try change(core, .removing) { (value, _) throws(SpaceError) in
            defer { value = nil }
            return value != nil
        }
    }

    /// Changes the value; if the object would have to be made, throws `noRoomToMake` instead.
    private func change<Result>(
        _ core: NamespaceCore,
        _ purpose: WritePurpose,
        noRoomToMake refusal: SpaceError? = nil,
        _ body: (inout Value?, Snapshot) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try core.write(purpose) { scope throws(SpaceError) in
            let row = try scope.snapshot.object(name, kind)
            var value = row?.details
            let result = try body(&value, scope.snapshot)
            guard value != row?.details else { return result }
            if row == nil, let refusal { throw refusal }
            if let value, let row {
                try scope.objects.store(name, SharedObjectRow(kind: kind, number: row.number, details: value))
            } else if let value {
                _ = try scope.places.makeObject(name, kind, details: value)
            } else {
                try scope.objects.remove(name)
            }
            scope.note(Interest(object: name))
            if let told {
                try scope.objects.note(.count, object: name, old: (row?.details).map(told), new: value.map(told))
            }
            return result
        }
    }

    /// A wait until `look` finds something in the value; the result is `nil` if the time has passed.
    func wait<Found>(
        _ operation: String,
        timeout: Duration?,
        _ look: @escaping (Value?) throws(SpaceError) -> Found?
    ) throws(SpaceError) -> ObjectWait<Found> {
        try object.attempt(operation) { (core) throws(SpaceError) in
            ObjectWait(state: self, core: core, operation: operation, timeout: timeout, find: look)
        }
    }

    fileprivate func read(_ core: NamespaceCore) throws(SpaceError) -> Value? {
        try core.read { snapshot throws(SpaceError) in try snapshot.object(name, kind)?.details }
    }

    /// The integers in the value; throws `damaged` if the value is not an array of `count` integers.
    package func integers(_ value: Value, count: Int) throws(SpaceError) -> [Int] {
        var integers: [Int] = []
        if case .array(let elements) = value {
            for case .int(let integer) in elements { integers.append(integer) }
        }
        guard integers.count == count else {
            throw .damaged("\(kind.phrase), \(name.quotedForPeople)")
        }
        return integers
    }

    /// The error if an object of the same kind was made with other details than the caller's.
    package func mismatch(is stands: String, wanted: String) -> SpaceError {
        .mismatch(kind, name, is: stands, wanted: wanted)
    }
}

/// The handle of an object that is one value.
package protocol StateHandle: StoredHandle {
    var state: ObjectState { get }
}

extension StateHandle {
    package var object: ObjectReference { state.object }
    package func remove(_ core: NamespaceCore) throws(SpaceError) -> Bool { try state.remove(core) }
}

/// A wait for a change of an object's value.
struct ObjectWait<Found>: Steps {
    private let state: ObjectState
    let core: NamespaceCore
    let operation: String
    private let deadline: MonotonicInstant?
    private let find: (Value?) throws(SpaceError) -> Found?
    private var hasSlept = false
    private var found: Found?

    fileprivate init(
        state: ObjectState,
        core: NamespaceCore,
        operation: String,
        timeout: Duration?,
        find: @escaping (Value?) throws(SpaceError) -> Found?
    ) {
        self.state = state
        self.core = core
        self.operation = operation
        deadline = MonotonicInstant.deadline(after: timeout)
        self.find = find
    }

    mutating func step() throws(SpaceError) -> Step<Found?> {
        guard !hasSlept else { return .done(found) }
        hasSlept = true
        let text = Value.string("\(state.object.kind.word) \(state.object.name)").json
        return .sleep(Sleep(Interest(object: state.object.name), text: text, until: deadline))
    }

    mutating func look() throws(SpaceError) -> Bool {
        found = try find(try state.read(core))
        return found != nil
    }
}
