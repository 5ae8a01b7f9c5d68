import SpaceRecipes
import Synchronization

/// What a `sharedspace_ns` stands for: a namespace, and what was obtained through this handle and has not ended.
///
/// The numbers of claims, holds and items come from one sequence, so a number stands for one thing.
final class NamespaceHandle: HandleObject {
    static var kind: HandleKind { .namespace }

    let namespace: Namespace

    private struct Kept {
        /// The ids of claimed tuples by the claims' numbers; the tuples' bytes are the caller's alone.
        var claims: [UInt64: TupleID] = [:]
        var holds: [UInt64: [KeptHold]] = [:]
        var items: [UInt64: KeptItem] = [:]
        /// Whether the handle was closed: what other threads obtain now is released at once.
        var isClosed = false
    }

    private let kept = Mutex(Kept())
    /// The template of the last search: most programs repeat it, and it costs a fifth of the search to make it.
    let lastTemplate = Mutex<KnownTemplate?>(nil)

    init(_ namespace: Namespace) { self.namespace = namespace }

    func close() throws(SpaceError) {
        let rest = kept.withLock { kept in
            let rest = kept
            kept = Kept()
            kept.isClosed = true
            return rest
        }
        // Holds and items are released with their last reference.
        for (number, id) in rest.claims {
            namespace.core.claiming.releaseOrRemember(HeldClaim(number: number, on: id))
        }
        _ = consume rest
        try namespace.leave()
    }

    // MARK: Claims

    /// Remembers a claim; if the handle was closed in the meantime, it is released, as several are.
    func keep(_ claim: HeldClaim) throws(SpaceError) {
        do throws(SpaceError) {
            try keep { $0.claims[claim.number] = claim.id }
        } catch {
            namespace.core.claiming.releaseOrRemember(claim)
            throw error
        }
    }

    /// Remembers claims.
    ///
    /// - Throws: `closed` if the handle was closed in the meantime; the claims are then released.
    func keep(_ claims: [HeldClaim]) throws(SpaceError) {
        do throws(SpaceError) {
            try keep { for claim in claims { $0.claims[claim.number] = claim.id } }
        } catch {
            for claim in claims { namespace.core.claiming.releaseOrRemember(claim) }
            throw error
        }
    }

    private func keep(_ body: (inout Kept) -> Void) throws(SpaceError) {
        let isClosed = kept.withLock { kept in
            if !kept.isClosed { body(&kept) }
            return kept.isClosed
        }
        if isClosed { throw .leftHandle }
    }

    func forget(claim number: UInt64) { kept.withLock { _ = $0.claims.removeValue(forKey: number) } }

    /// Forgets a claim that is to be ended, and returns the id of its tuple, if it was claimed through this handle.
    ///
    /// If it does not end, the caller remembers it again.
    func takeOut(claim number: UInt64) -> TupleID? { kept.withLock { $0.claims.removeValue(forKey: number) } }

    // MARK: Holds

    /// Remembers holds; if the handle was closed in the meantime, they are released with the caller's references.
    func keep(_ holds: [KeptHold], as number: UInt64) throws(SpaceError) { try keep { $0.holds[number] = holds } }

    func holds(_ number: UInt64) -> [KeptHold]? { kept.withLock { $0.holds[number] } }

    func forget(hold number: UInt64) { kept.withLock { _ = $0.holds.removeValue(forKey: number) } }

    // MARK: Items

    /// Remembers an item; if the handle was closed in the meantime, it returns with the caller's reference.
    func keep(_ item: KeptItem) throws(SpaceError) { try keep { $0.items[item.item.fencing] = item } }

    func item(_ number: UInt64) -> KeptItem? { kept.withLock { $0.items[number] } }

    func forget(item number: UInt64) { kept.withLock { _ = $0.items.removeValue(forKey: number) } }

    // MARK: What is dropped

    /// Releases a claim, an item or holds: now, or as soon as no process blocks it.
    func drop(_ number: UInt64) {
        if let tuple = takeOut(claim: number) {
            namespace.core.claiming.releaseOrRemember(HeldClaim(number: number, on: tuple))
        }
        // An item and holds return with the last reference, which is not dropped under the lock.
        let dropped = kept.withLock { kept in
            (kept.items.removeValue(forKey: number), kept.holds.removeValue(forKey: number))
        }
        withExtendedLifetime(dropped) {}
    }
}

/// An item of a queue that this process works on; it returns to its queue with the last reference.
final class KeptItem: Sendable {
    let item: QueueItem

    init(_ item: consuming QueueItem) { self.item = item }
}

/// Runs the body of a call on a namespace.
@inline(__always)
func use(
    _ ns: OpaquePointer?,
    _ operation: @autoclosure () -> String,
    _ error: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (NamespaceHandle) throws(SpaceError) -> Int32
) -> Int32 {
    call(error) { () throws(SpaceError) in
        do throws(SpaceError) {
            return try HandleTable.shared.use(ns, NamespaceHandle.self) { (handle) throws(SpaceError) in
                do throws(SpaceError) {
                    return try body(handle)
                } catch {
                    throw error.named(operation(), handle.namespace.name)
                }
            }
        } catch {
            throw error.named(operation(), nil)
        }
    }
}
