import SpaceSystem
import Synchronization
import SystemPackage

/// This process's use of a namespace: a number, and a file under a lock that the kernel lets go when the process exits,
/// however it exits.
///
/// Claims and waiters belong to it.
final class Session: Sendable {
    let number: UInt64
    /// Kept open for its lock alone; no other descriptor of the namespace's folder stays open.
    private let lock: OwnedDescriptor
    private let record: Mutex<SessionFile>

    init(number: UInt64, lock: consuming OwnedDescriptor, record: SessionFile) {
        self.number = number
        self.lock = lock
        self.record = Mutex(record)
    }

    var name: String { String(number) }
    var isOwning: Bool { record.withLock { $0.isOwning } }

    /// Whether the file still has a name: if not, somebody removed the namespace's folder.
    var isLinked: Bool {
        guard let info = try? FileInfo.of(lock.raw) else { return true }
        return info.linkCount > 0
    }

    /// Says that the session keeps the namespace alive from now on, or no longer.
    ///
    /// Called under the door.
    func setOwning(_ isOwning: Bool) throws(Errno) { try change { $0.isOwning = isOwning } }

    /// Says that the session claims: who waits for a tuple listens for its end from now on.
    func setClaimant() throws(Errno) { try change { $0.isClaimant = true } }

    private func change(_ body: (inout SessionFile) -> Void) throws(Errno) {
        let result = record.withLock { record -> Result<Void, Errno> in
            var changed = record
            body(&changed)
            guard changed != record else { return .success(()) }
            do throws(Errno) {
                try FileBytes.write(changed.encoded(), to: lock.raw)
            } catch {
                return .failure(error)
            }
            record = changed
            return .success(())
        }
        try result.get()
    }
}
