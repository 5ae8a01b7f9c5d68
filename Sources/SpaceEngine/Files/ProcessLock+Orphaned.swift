import Glibc
package import SpaceSystem
import SystemPackage

// Locks whose holder's thread does not exist, and of whose death the mutex does not tell.
//
// The kernel marks the robust mutexes of a thread that dies by walking a list in that thread's memory (get_robust_list(2)). It stops
// where the list is broken, and the list leads through LMDB's mutexes too, in another file: a process that dies of such
// damage leaves a lock with its thread's number, for ever. The same comes of a number written over a free lock.
//
// Guarantees: such a lock is recognised, named, and taken over as one whose holder was killed, so that what it protects is mended by
// whoever has it next (EOWNERDEAD); a lock whose holder lives, stopped or not, is never touched. It is recognised only when a
// wait for it has come to its end, the thread and the count of acquisitions have not changed in all that time, and no
// task has the thread's number (or it is a zombie's): the kernel walks the list before a number becomes free. Of those who
// recognise it one at a time takes it over, under a lock of the kernel's on `control`, which no kill and no damage outlasts;
// it looks once more under that lock, and then does in one compare-and-swap what the kernel would have done.
//
// A number that has gone to another thread meanwhile can't be told from its holder's: that lock stays busy.

extension ProcessLock {
    /// Takes the lock, also from a thread that doesn't exist any more.
    ///
    /// `openControl`: Opens the namespace's control file, if the path still leads to it.
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

    /// The same, by who has the namespace's folder open.
    package func acquire(timeout: Duration, of folder: borrowing NamespaceFolder) throws(Failure) -> Bool {
        let files = folder.files
        return try acquire(timeout: timeout) { try? files.open(NamespaceFolder.control, flags: O_RDWR) }
    }

    /// - Returns: Whether it is to be had now, as far as that thread is concerned.
    private func takeOver(from thread: Int32, under control: CInt) -> Bool {
        // Beyond the file's end; an adoption after a reboot locks it all, and then this lock is made anew anyway.
        let byte = 1 << 61 + (name == .door ? 0 : 1)
        guard (try? FileLock.tryExclusive(control, byte: byte)) == true else { return mutex.owner != thread }
        defer { try? FileLock.unlock(control, byte: byte) }
        guard mutex.owner == thread, ProcFS.isGone(thread: thread) else { return mutex.owner != thread }
        return mutex.abandon(by: thread)
    }
}
