import SpaceSystem
import TupleCoding

/// An object that is one value with a name and a kind: a counter, a latch, a rate limit.
///
/// It is read in a snapshot, changed in one write transaction, and whoever waits for it is woken by that.
package struct ObjectState: Sendable {
    package let namespace: Namespace
    package let name: String
    package let kind: SharedObjectKind

    package init(namespace: Namespace, name: String, kind: SharedObjectKind) {
        self.namespace = namespace
        self.name = name
        self.kind = kind
    }

    /// The value; `nil`: nobody has made it yet.
    package func value(_ operation: String) throws(SpaceError) -> Value? {
        try namespace.checkObjectName(name, operation)
        return try read(try namespace.usableCore(operation), operation)
    }

    /// Changes the value, or makes it from `nil`; what `body` leaves `nil` goes.
    package func change<Result>(
        _ operation: String,
        _ body: (inout Value?, Snapshot) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try namespace.checkObjectName(name, operation)
        let core = try namespace.usableCore(operation)
        let bytes = name.utf8.count + 512
        do throws(SpaceError) {
            return try change(core, operation, .adding(1, bytes: bytes), body)
        } catch  where error.isOfStorage {
            // What is there takes no more room when it changes or goes: it may use what is kept for removals.
            return try change(core, operation, .removing(1, bytes: bytes), noRoomToMake: error, body)
        }
    }

    /// `noRoomToMake`: Thrown where the value would have to be made.
    private func change<Result>(
        _ core: NamespaceCore,
        _ operation: String,
        _ demand: DiskReserve.Demand,
        noRoomToMake refusal: SpaceError? = nil,
        _ body: (inout Value?, Snapshot) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try core.write(operation, demand) { scope throws(SpaceError) in
            let row = try scope.snapshot.object(name, kind)
            var value = row?.details
            let result = try body(&value, scope.snapshot)
            guard value != row?.details else { return result }
            if row == nil, let refusal { throw refusal }
            if let value, let row {
                try scope.store(name, SharedObjectRow(kind: kind, number: row.number, details: value))
            } else if let value {
                _ = try scope.makeObject(name, kind, details: value)
            } else {
                try scope.removeObject(name)
            }
            scope.noteMoved(object: name)
            return result
        }
    }

    /// Waits until `look` finds something in the value; `nil` when the time has passed.
    ///
    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    func blocking<Result>(
        _ operation: String,
        timeout: Duration?,
        interruption: Interruption?,
        _ look: (Value?) throws(SpaceError) -> Result?
    ) throws(SpaceError) -> Result? {
        try namespace.checkObjectName(name, operation)
        let core = try namespace.usableCore(operation)
        return try core.block(
            operation,
            Interest(object: name),
            text: text,
            until: MonotonicInstant.deadline(after: timeout),
            interruption: interruption
        ) { () throws(SpaceError) in
            try look(try read(core, operation)).map { Found(result: $0, removed: nil) }
        }
    }

    /// The same, suspending the task.
    func suspending<Result>(
        _ operation: String,
        timeout: Duration?,
        _ look: (Value?) throws(SpaceError) -> Result?
    ) async throws(SpaceError) -> Result? {
        try namespace.checkObjectName(name, operation)
        let core = try namespace.usableCore(operation)
        return try await core.suspend(
            operation,
            Interest(object: name),
            text: { text },
            until: MonotonicInstant.deadline(after: timeout)
        ) { () throws(SpaceError) in
            try look(try read(core, operation)).map { Found(result: $0, removed: nil) }
        }
    }

    private func read(_ core: NamespaceCore, _ operation: String) throws(SpaceError) -> Value? {
        try core.read(operation) { snapshot throws(SpaceError) in try snapshot.object(name, kind)?.details }
    }

    private var text: String { Value.string("\(kind.word) \(name)").json }

    /// The integers that the value is made of.
    ///
    /// Throws: `damaged` when it isn't.
    package func integers(_ value: Value, count: Int, _ operation: String) throws(SpaceError) -> [Int] {
        var integers: [Int] = []
        if case .array(let elements) = value {
            for case .int(let integer) in elements { integers.append(integer) }
        }
        guard integers.count == count else {
            throw .damaged(operation, namespace: namespace.name, "\(kind.phrase), \(name.quotedForPeople)")
        }
        return integers
    }

    /// An error for who means another object of the same kind.
    package func mismatch(_ operation: String, is stands: String, wanted: String) -> SpaceError {
        SpaceError(
            .typeMismatch,
            operation,
            namespace: namespace.name,
            reason: "\(kind.phrase), \(name.quotedForPeople), was made with \(stands), and is used with \(wanted)",
            advice: "use the same everywhere, or remove it first"
        )
    }
}
