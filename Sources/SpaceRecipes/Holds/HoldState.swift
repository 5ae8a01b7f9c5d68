import SpaceSystem
import Synchronization

/// What a hold keeps: whether it was released, and the namespace, which must stay open as long.
package final class HoldState: Sendable {
    package let place: HoldPlace
    package let namespace: Namespace
    private let hasEnded = Atomic<Bool>(false)

    init(_ place: HoldPlace, in namespace: Namespace) {
        self.place = place
        self.namespace = namespace
    }

    package func isHeld() throws(SpaceError) -> Bool {
        guard !hasEnded.load(ordering: .acquiring) else { return false }
        return try namespace.core.hold(place) != nil
    }

    package func release() throws(SpaceError) {
        try end("let go of \(place.kind.phrase)") { (core, operation) throws(SpaceError) in
            try core.end(place, operation)
        }
    }

    /// Ends it, once; what could not be ended for a reason that passes is still held.
    package func end(
        _ operation: String,
        _ body: (NamespaceCore, String) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        // Not asked whether the handle was left: what is held is the process's, and lasts until its last handle goes.
        let core = namespace.core
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: namespace.name,
                reason: "\(place.name.quotedForPeople) was let go before",
                advice: "end what is held once"
            )
        }
        do throws(SpaceError) {
            try body(core, operation)
        } catch {
            if error.code != .holdLost { hasEnded.store(false, ordering: .releasing) }
            throw error
        }
    }

    /// Waits until it is no longer held, though nobody released it.
    ///
    /// Returns: How it was lost.
    /// Throws: `cancelled`: also when it was released.
    func loss() async throws(SpaceError) -> SpaceError {
        let operation = "keep \(place.kind.phrase)"
        let core = namespace.core
        while true {
            do throws(SpaceError) {
                let _: Void? = try await core.suspend(
                    operation,
                    Interest(hold: place.ticket),
                    text: { place.text },
                    until: nil
                ) { () throws(SpaceError) in try core.hold(place) == nil ? Found(result: (), removed: nil) : nil }
                if hasEnded.load(ordering: .acquiring) { throw core.cancelled(operation) }
                return core.lost(place, operation)
            } catch {
                if error.code == .cancelled { throw error }
                guard error.mayPass else { return error }
                // It could not be looked (no reader was to be had, say), which takes nothing away.
                try? await Task.sleep(for: Limits.tick)
            }
        }
    }

    /// At the end of the hold's life: lets go, if nothing else has.
    func drop(wasDelivered: Bool = true) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        namespace.core.endOrRemember(place, wasDelivered: wasDelivered)
    }
}
