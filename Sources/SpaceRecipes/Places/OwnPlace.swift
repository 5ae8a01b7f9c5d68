import Synchronization

/// A place that this process holds: whether it was released, and the namespace, which must stay open that long.
package final class OwnPlace: Sendable {
    package let place: Place
    package let namespace: Namespace
    private let hasEnded = Atomic<Bool>(false)
    private let isAttached = Atomic<Bool>(false)
    /// Whether `OwnHolds` knows the place.
    private let isNoted = Atomic<Bool>(false)

    init(_ place: Place, in namespace: Namespace) {
        self.place = place
        self.namespace = namespace
    }

    /// Whether it was released with this value.
    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    /// Notes that the calling task holds the place; `isScoped`: the task releases the place itself, once its code has
    /// run.
    func note(isScoped: Bool) {
        isNoted.store(true, ordering: .relaxed)
        OwnHolds.note(place, of: namespace.core, isScoped: isScoped)
    }

    private func forget() {
        if isNoted.exchange(false, ordering: .relaxed) { OwnHolds.forget(place, of: namespace.core) }
    }

    package func isHeld() throws(SpaceError) -> Bool {
        guard !hasEnded.load(ordering: .acquiring) else { return false }
        return try namespace.core.naming("look at \(place.kind.phrase)") { () throws(SpaceError) in
            try namespace.core.places.row(of: place) != nil
        }
    }

    package func release() throws(SpaceError) {
        try end("let go of \(place.kind.phrase)") { (core) throws(SpaceError) in try core.places.end(place) }
    }

    /// Ends it once; if it can't be ended for a reason that may pass, it is still held.
    package func end(
        _ operation: String,
        _ body: (NamespaceCore) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        // A handle that was left is no error here: the hold belongs to the process, and lasts until its last handle is
        // left.
        let core = namespace.core
        try core.naming(operation) { () throws(SpaceError) in
            try begin()
            do throws(SpaceError) {
                try body(core)
            } catch {
                undo(error)
                throw error
            }
        }
    }

    /// Ends it once, in one transaction with the changes of `body`; if that throws, it is still held.
    func end<Result>(
        _ operation: String,
        with body: (borrowing Transaction) throws -> Result,
        _ ending: (TransactionState) throws(SpaceError) -> Void
    ) throws -> Result {
        let core = namespace.core
        try core.naming(operation) { () throws(SpaceError) in try begin() }
        do {
            return try core.transaction(in: namespace, operation) { transaction in
                // The end comes first: if the place is lost, the body must not run.
                try ending(transaction.state)
                return try body(transaction)
            }
        } catch {
            undo(error)
            throw error
        }
    }

    private func begin() throws(SpaceError) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else {
            throw .misuse("\(place.name.quotedForPeople) was let go before", advice: "end what is held once")
        }
        forget()
    }

    private func undo(_ error: any Error) {
        if (error as? SpaceError)?.code != .holdLost { hasEnded.store(false, ordering: .releasing) }
    }

    /// Leaves the place held when this value's life ends.
    func detach() {
        hasEnded.store(true, ordering: .releasing)
        forget()
    }

    /// The place as a value that ends it again, after ``detach()``; there is one such value.
    func attached() throws(SpaceError) -> OwnPlace {
        guard !isAttached.exchange(true, ordering: .acquiringAndReleasing) else {
            throw .misuse("\(place.name.quotedForPeople) was attached before", advice: "attach a detached value once")
        }
        return OwnPlace(place, in: namespace)
    }

    /// Waits until the place is lost without being released, and returns how it was lost.
    ///
    /// Throws `cancelled` if the task is cancelled, or if the place was released.
    func loss() async throws(SpaceError) -> SpaceError {
        let operation = "keep \(place.kind.phrase)"
        let core = namespace.core
        while true {
            do throws(SpaceError) {
                let _: Void? = try await core.waits.suspend(
                    Interest(hold: place.ticket),
                    text: { place.text },
                    until: nil
                ) { (_) throws(SpaceError) in
                    guard try core.places.row(of: place) == nil else { return nil }
                    try core.engine.checkStays()
                    return Found(result: (), removed: nil)
                }
                if hasEnded.load(ordering: .acquiring) { throw .cancelled }
                return SpaceError.lost(place).named(operation, core.name.text)
            } catch {
                let error = error.named(operation, core.name.text)
                if error.code == .cancelled { throw error }
                guard error.mayPass else { return error }
                // The look failed, for example because no reader was free. That does not end the wait.
                try? await Task.sleep(for: Limits.tick)
            }
        }
    }

    /// Releases the place when the value's life ends, unless it has ended already.
    func drop() { drop(place) }

    /// Releases the place by the rules of `place`, unless it has ended already.
    func drop(_ place: Place) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        forget()
        namespace.core.places.endOrRemember(place)
    }
}
