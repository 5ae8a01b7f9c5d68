import SpaceSystem
import Synchronization

/// The holds of this process, each with the task or thread that acquired it, so that none waits for itself for ever.
///
/// A wait is refused if only the code after the wait could end it:
///
/// - The body of `withLock`, `withPermits` or `lead` waits for the hold that it runs under: refused, with a time-out or
///   without.
/// - A task or thread that has acquired a hold as a value waits for it again, without a time-out: refused. If the value
///   was passed on to another task, which releases it, the wait needs a time-out, or the other task must acquire the
///   hold.
///
/// Whether a wait is for the task's own hold is decided in the transaction that adds the waiting place
/// (`Snapshot.isHeldUp`). A wait for a hold of another task of the process may end, so it is not refused.
enum OwnHolds {
    private struct Key: Hashable {
        let core: ObjectIdentifier
        let name: Name
    }

    private struct Entry {
        let ticket: UInt64
        let task: RunningTask
        let isScoped: Bool
    }

    private static let entries = Mutex<[Key: [Entry]]>([:])

    /// Notes a hold of the calling task, or that the task runs code under a hold that was noted before.
    static func note(_ place: Place, of core: NamespaceCore, isScoped: Bool) {
        let entry = Entry(ticket: place.ticket, task: .current, isScoped: isScoped)
        change(place, of: core) { entries in
            entries.removeAll { $0.ticket == place.ticket }
            entries.append(entry)
        }
    }

    static func forget(_ place: Place, of core: NamespaceCore) {
        change(place, of: core) { entries in entries.removeAll { $0.ticket == place.ticket } }
    }

    private static func change(_ place: Place, of core: NamespaceCore, _ body: (inout [Entry]) -> Void) {
        let key = Key(core: ObjectIdentifier(core), name: Name(place.name))
        entries.withLock { entries in
            body(&entries[key, default: []])
            if entries[key]?.isEmpty == true { entries[key] = nil }
        }
    }

    /// The tickets of a name that the calling task holds, and that its wait would keep from being released.
    static func tickets(of name: String, in core: NamespaceCore, isLimited: Bool) -> Set<UInt64> {
        let key = Key(core: ObjectIdentifier(core), name: Name(name))
        guard let own = entries.withLock({ $0[key] }) else { return [] }
        let task = RunningTask.current
        return Set(own.filter { $0.task == task && ($0.isScoped || !isLimited) }.map(\.ticket))
    }
}
