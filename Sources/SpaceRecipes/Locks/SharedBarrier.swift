/// A point at which a number of processes wait for each other.
///
/// ```swift
/// try await simulation.barrier("step", parties: 4).wait()
/// ```
///
/// When as many processes wait as there are parties, all of them go on, and the barrier is ready for the next round. A
/// process that dies or gives up while it waits is not counted: the others wait until another process comes instead.
public struct SharedBarrier: SharedObject, ObjectHandle {
    package let object: ObjectReference
    /// The number of parties that wait for each other.
    let parties: Int

    private static let operation = "wait at a barrier"

    private func waiting(timeout: Duration?) throws(SpaceError) -> PlaceWait {
        try object.attempt(Self.operation) { (core) throws(SpaceError) in
            guard parties > 0 else { throw .badNumber("\(parties) parties never meet") }
            let request = PlaceRequest(
                name: name,
                kind: .barrier,
                rules: PartyRules(),
                details: .int(parties),
                unit: "parties"
            )
            return PlaceWait(core, Self.operation, request, timeout: timeout)
        }
    }

    /// Waits without a limit until all parties are waiting.
    ///
    /// - Throws: `cancelled` if the task is cancelled; `typeMismatch` if the name belongs to another kind of object, or
    ///   is in use with another number of parties; and the errors of every write.
    public func wait() async throws(SpaceError) { _ = try await waitSuspending(timeout: nil) }

    /// Waits until all parties are waiting; `false` if the time-out passes first: then this one no longer counts.
    ///
    /// - Throws: The same errors as ``wait()``.
    public func wait(timeout: Duration) async throws(SpaceError) -> Bool { try await waitSuspending(timeout: timeout) }

    private func waitSuspending(timeout: Duration?) async throws(SpaceError) -> Bool {
        let wait = try waiting(timeout: timeout)
        if Task.isCancelled { throw SpaceError.cancelled.named(Self.operation, namespace.name) }
        return goOn(from: try await wait.suspend().entered?.0, wait.core)
    }

    /// Waits until all parties are waiting; `false` if the time-out passes first: then this one no longer counts.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func wait(timeout: Duration) throws(SpaceError) -> Bool {
        try waitBlocking(timeout: timeout, interruption: nil)
    }

    /// Waits for all parties, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait.
    package func waitBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Bool {
        let wait = try waiting(timeout: timeout)
        return goOn(from: try wait.block(interruption: interruption).entered?.0, wait.core)
    }

    /// Leaves a barrier, and returns whether all parties came.
    ///
    /// If the row can't be removed now, it is removed at a later tick; until then it holds up no other party.
    private func goOn(from place: Place?, _ core: NamespaceCore) -> Bool {
        if let place { core.places.endOrRemember(place) }
        return place != nil
    }
}

extension Namespace {
    /// The barrier with a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    ///   - parties: The number of parties that wait for each other, from 1.
    /// - Returns: The barrier; nothing is written before a process waits.
    public func barrier(_ name: String, parties: Int) -> SharedBarrier {
        SharedBarrier(object: ObjectReference(.barrier, name, in: self), parties: parties)
    }
}
