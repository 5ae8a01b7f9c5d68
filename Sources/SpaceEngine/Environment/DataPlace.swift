import Glibc
package import LMDB
import SpaceSystem
import SystemPackage

/// The place where LMDB finds a namespace's data file and lock file.
///
/// LMDB opens both by path, follows links, and extends what it opens. Guarantees: LMDB opens exactly the files that
/// were checked (regular, with one name, the folder's own). In a private folder no other user can swap them after the
/// check, so the path is the folder's own. In a folder that a group shares, a member can. There LMDB gets a folder of
/// this process alone, with two links to the descriptors of the checked files. That folder is in the root's nursery
/// under this process's name, so if this process is killed, a later process removes it.
package struct DataPlace: ~Copyable {
    private let data: OwnedDescriptor?
    private let lock: OwnedDescriptor?
    private let links: LinkFolder?
    /// The path for LMDB, valid as long as this value and the namespace's folder exist.
    package let path: String

    /// Checks a folder's data file and lock file, and finds the path by which LMDB may open them.
    ///
    /// - Parameters:
    ///   - folder: The namespace's folder.
    ///   - creates: Whether the files may be missing.
    ///   - timeout: How long another process may hold LMDB's lock for a first opener, or `nil` if LMDB takes no lock.
    ///   - isReadOnly: Whether nothing can be made there, and LMDB reads without a lock. Then LMDB gets the folder
    ///     itself, and only `check(_:)` shows that it has opened the file that was checked.
    /// - Throws: `permissionDenied` for a file that is not the folder's own; `holderBusy` if another process holds
    ///   LMDB's lock for too long; an error of the system.
    package init(
        _ folder: borrowing NamespaceFolder,
        creates: Bool,
        timeout: Duration?,
        isReadOnly: Bool = false
    ) throws(SpaceError) {
        guard Safeguard.ownFiles.stands else {
            data = nil
            lock = nil
            links = nil
            path = folder.descriptor.procPath
            return
        }
        if isReadOnly {
            data = try Self.find(folder, NamespaceFolder.data, "the data file", orMake: false, false)
            lock = nil
            links = nil
            path = folder.descriptor.procPath
            return
        }
        let isShared = folder.isShared
        let data = try Self.find(folder, NamespaceFolder.data, "the data file", orMake: creates, isShared)
        let lock = try Self.find(folder, NamespaceFolder.lock, "LMDB's lock file", orMake: true, isShared)
        if let timeout { try Self.waitUntilUnlocked(lock, timeout) }
        let links = isShared ? try Self.link(data, lock, folder.root) : nil
        path =
            switch links {
            case .some(let links): links.path
            case .none: folder.descriptor.procPath
            }
        self.links = links
        self.data = data
        self.lock = lock
    }

    private static func link(
        _ data: borrowing OwnedDescriptor?,
        _ lock: borrowing OwnedDescriptor?,
        _ root: SpaceRoot
    ) throws(SpaceError) -> LinkFolder {
        let links = try LinkFolder(root: root)
        if let data = number(of: data) { try links.link(NamespaceFolder.data, to: data) }
        if let lock = number(of: lock) { try links.link(NamespaceFolder.lock, to: lock) }
        return links
    }

    /// Returns a file's descriptor; a switch borrows what `if let` would consume.
    private static func number(of file: borrowing OwnedDescriptor?) -> CInt? {
        switch file {
        case .some(let file): file.raw
        case .none: nil
        }
    }

    /// Checks that LMDB has opened the data file that was checked.
    package func check(_ environment: Environment) throws(SpaceError) {
        guard let raw = Self.number(of: data) else { return }
        let isSame = try system("the data file") { () throws(Errno) in
            let (checked, opened) = (try FileInfo.of(raw), try FileInfo.of(environment.descriptor))
            return checked.inode == opened.inode && checked.device == opened.device
        }
        guard isSame else {
            throw .damaged("the data file was replaced while it was opened")
        }
    }

    /// Finds a checked file, or returns `nil` if LMDB has to make it: in a private folder.
    private static func find(
        _ folder: borrowing NamespaceFolder,
        _ name: String,
        _ subject: String,
        orMake makes: Bool,
        _ isShared: Bool
    ) throws(SpaceError) -> OwnedDescriptor? {
        do throws(TrustedFolder.Refusal) {
            return try folder.files.find(name)
        } catch {
            guard error == .system(.noSuchFileOrDirectory), makes else {
                throw SpaceError(error, subject: subject)
            }
        }
        guard isShared else { return nil }
        let mode = folder.fileMode
        do throws(TrustedFolder.Refusal) {
            let made = try folder.files.open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
            try? Directory.setMode(made.raw, mode)
            return try folder.files.find(name)
        } catch {
            throw SpaceError(error, subject: subject)
        }
    }

    /// Waits while a process holds LMDB's lock as only a first opener does.
    ///
    /// The caller holds the door, and first openers do so too. So the holder is a first opener that was killed and has
    /// not ended yet: the kernel gives up the door when the opener's threads end, and LMDB's lock later, when its files
    /// are closed. LMDB itself would wait without bound. Then it would use the lock file as the killed opener has left
    /// it: without readers and with the number of no commit, so that it would read and overwrite pages of earlier
    /// commits. Once the lock is free, LMDB finds that it is the first opener, and initialises the lock file again.
    ///
    /// This process has no environment open on the file: closing the descriptor would release the environment's POSIX
    /// locks (fcntl(2)).
    private static func waitUntilUnlocked(
        _ lock: borrowing OwnedDescriptor?,
        _ timeout: Duration
    ) throws(SpaceError) {
        guard let lock = number(of: lock) else { return }
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        let path = OwnedDescriptor.procPath(of: lock)
        while true {
            let (holder, length) = try system("LMDB's lock file") { () throws(Errno) in
                let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
                let holder = try FileLock.exclusiveHolder(file.raw, byte: 0)
                let isInUse = try FileLock.isHeldByAnother(file.raw, byte: 0)
                return (holder, isInUse ? try FileInfo.of(file.raw).size : DataFile.lockFileSize)
            }
            guard let holder else {
                // If no process has the file open, LMDB initialises it again. If one has, LMDB computes the number of
                // readers from the file's length, and from a length within the header it computes billions.
                guard length < DataFile.leastLockFileSize else { return }
                throw .damaged("LMDB's lock file was cut to \(length) bytes while processes use it")
            }
            guard !deadline.hasPassed else {
                throw SpaceError(
                    .holderBusy,
                    holder: max(0, holder),
                    reason: "\(holder > 0 ? "process \(holder)" : "another process") holds LMDB's lock file",
                    advice: "end that process, or try again"
                )
            }
            usleep(1_000)
        }
    }
}
