import Glibc
package import SpaceSystem

// Locks whose holder's thread no longer exists, although the mutex does not show its death.
//
// When a thread dies, the kernel marks its robust mutexes by walking a list in the thread's memory
// (get_robust_list(2)). The walk stops where the list is broken, and the list leads through LMDB's mutexes too, in
// another file. So a process that dies of such damage leaves its thread's number in the lock forever. A stray write of
// a number over a free lock has the same effect.
//
// Guarantees: such a lock is recognised, named, and taken over like one whose holder was killed: its next holder gets
// EOWNERDEAD and repairs what the lock protects. A lock whose holder is alive, stopped or not, is never touched.
//
// A lock is recognised as orphaned only if all of this is true: a wait for it has reached its end; the thread and the
// count of acquisitions have not changed in all that time; no task has the thread's number, or only a zombie has it.
// That is safe, because the kernel walks the list before a number becomes free. If several processes recognise such a
// lock, one at a time takes it over, under a lock of the kernel on `control`, which never outlasts its process. Under
// that lock the process looks once more, and then does in one compare-and-swap what the kernel would have done.
//
// If another thread has got the number since, it can't be distinguished from the holder: that lock stays busy.

extension ProcessLock {
    /// Takes the lock, even from a thread that no longer exists.
    ///
    /// `openControl` opens the namespace's control file, if the path still leads to it.
    ///
    /// - Returns: Whether the last holder was killed while it held the lock.
    package func acquire(timeout: Duration, openControl: () -> OwnedDescriptor?) throws(Failure) -> Bool {
        do throws(Failure) {
            return try acquire(timeout: timeout)
        } catch {
            guard error.orphanedBy != 0, Safeguard.orphans.stands, let control = openControl() else { throw error }
            guard takeOver(from: error.orphanedBy, under: control.raw) else { throw error }
            return try acquire(timeout: timeout)
        }
    }

    /// Takes the lock in the same way, for a caller that has the namespace's folder open.
    package func acquire(timeout: Duration, of folder: borrowing NamespaceFolder) throws(Failure) -> Bool {
        let files = folder.files
        return try acquire(timeout: timeout) { try? files.open(NamespaceFolder.control, flags: O_RDWR) }
    }

    /// Returns whether the lock can be taken now, as far as that thread is concerned.
    private func takeOver(from thread: Int32, under control: CInt) -> Bool {
        // The byte lies beyond the file's end. An adoption after a reboot locks the whole file, and then initialises
        // this mutex again anyway.
        let byte = 1 << 61 + (name == .door ? 0 : 1)
        guard (try? FileLock.tryExclusive(control, byte: byte)) == true else { return mutex.owner != thread }
        defer { try? FileLock.unlock(control, byte: byte) }
        guard mutex.owner == thread, ProcFS.isGone(thread: thread) else { return mutex.owner != thread }
        return mutex.abandon(by: thread)
    }
}
