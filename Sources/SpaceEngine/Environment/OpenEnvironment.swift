import Glibc
import LMDB
package import SpaceSystem
import Synchronization
import SystemPackage

/// The LMDB environments that this process has open, each once.
///
/// Guarantees: at every instant a process has at most one environment open on a lock file. This is true whatever its
/// threads open and leave at the same time, and however many copies of the library it has loaded. LMDB relies on it
/// (lmdb.h: "Do not have open an LMDB database twice in the same process at the same time"). LMDB's locks are the
/// record locks of fcntl(2), and a process loses those on a file as soon as it closes any descriptor of that file.
/// Besides, mdb_env_close() frees every slot of the reader table that bears the process's number. The next opener in
/// another process would then find no lock, and would initialise the lock file again while living processes use it.
///
/// The protocol:
/// 1. A *place* stands for one lock file, by device and inode. The place's lock is held during all of mdb_env_open(),
///    and during all of mdb_env_close(). So an opener that comes while the environment is being closed waits, and opens
///    it afterwards.
/// 2. The place keeps the environment with a strong reference, and counts its uses under the place's lock. Each
///    ``NamespaceCore`` has one use, from before the core is made until the process has left the namespace and the
///    core's last reader has gone (`Engine.endUse`). A thread that still reads in a namespace that was left keeps the
///    use; an opener that comes at that time gets a use of the same environment. The last use closes the environment.
///    If LMDB still has a reader then, the environment stays open in its place for the next opener.
/// 3. An open environment holds `lock.mdb` open. So its inode can't become another file's, and a place can't be
///    mistaken for another namespace's. The registry refers to a place weakly. Each use keeps the place until the
///    environment is closed, so a place that the registry no longer finds has nothing open.
/// 4. A second copy of the library in the same process has another registry. Against it, an open environment has an
///    open-file-description lock on `data.mdb`. The lock's position is far beyond the file's end and depends on the
///    process's PID and start time, so each process has a position of its own. A second copy finds the lock held, and
///    is refused. Opening happens under the door, which all copies share; so if two copies open at once, one finds the
///    lock of the other. The lock is released only after mdb_env_close(), or by the kernel when the process ends.
/// 5. So a process that opens an environment, and has none open on that file, has no reader in it: slots that bear its
///    number are left over, and are freed (`forgetFormerReaders`).
/// 6. A child made by fork closes nothing: the slots of the reader table that mdb_env_close() would free are the
///    parent's.
///
/// The order of the locks is: the registry's entry, the door, the place. A thread that holds the place's lock takes no
/// other, so a core may end under any lock.
package final class OpenEnvironment: Sendable {
    /// The operation that errors of opening and creating a namespace name.
    package static let operation = "open the namespace"

    private struct State {
        var environment: Environment?
        var tables: Tables?
        var uses = 0
        /// The position of the lock against other copies of the library.
        var position = 0
    }

    private let state = Mutex(State())

    package let lockFile: FileID

    private init(_ lockFile: FileID) { self.lockFile = lockFile }

    // MARK: Finding the place

    private struct Known {
        weak var place: OpenEnvironment?
    }

    private static let places = Mutex<[FileID: Known]>([:])

    package struct FileID: Hashable {
        package let device: UInt64
        package let inode: UInt64

        init(_ info: FileInfo) {
            device = info.device
            inode = info.inode
        }
    }

    private static func place(of file: FileID) -> OpenEnvironment {
        places.withLock { places in
            if let place = places[file]?.place { return place }
            places = places.filter { $0.value.place != nil }
            let place = OpenEnvironment(file)
            places[file] = Known(place: place)
            return place
        }
    }

    // MARK: Opening

    /// Opens a namespace's environment, or another use of it; called under the door, or in the nursery.
    ///
    /// - Parameters:
    ///   - folder: The namespace's folder.
    ///   - header: The control file's header.
    ///   - creates: Whether the data file has to be made.
    ///   - reservesAgain: Whether the lock file may lack blocks, and no other process uses it.
    ///   - timeout: How long another process may keep LMDB's lock.
    /// - Returns: The use, which keeps the environment open.
    /// - Throws: `incompatible` if another copy of the library in this process has the environment open; any error of
    ///   opening LMDB.
    package static func use(
        of folder: borrowing NamespaceFolder,
        _ header: ControlHeader,
        creates: Bool,
        reservesAgain: Bool = false,
        timeout: Duration
    ) throws(SpaceError) -> EnvironmentUse {
        do throws(SpaceError) {
            return try use(folder, header, creates: creates, reservesAgain: reservesAgain, timeout)
        } catch {
            throw error.named(operation, folder.name.text)
        }
    }

    private static func use(
        _ folder: borrowing NamespaceFolder,
        _ header: ControlHeader,
        creates: Bool,
        reservesAgain: Bool,
        _ timeout: Duration
    ) throws(SpaceError) -> EnvironmentUse {
        let place = place(of: try lockFile(folder))
        return try place.state.withLock { (state) throws(SpaceError) in
            let environment: Environment
            if let open = state.environment {
                environment = open
                try checkData(open, folder)
            } else {
                let process = try system("/proc") { () throws(Errno) in
                    try ProcessIdentity.current
                }
                state.position = position(of: process)
                if Safeguard.openOnce.stands { try refuseSecondCopy(folder, state.position) }
                if reservesAgain { try reserveLockFile(folder) }
                environment =
                    creates
                    ? try DataFile.create(folder, header, timeout: timeout)
                    : try DataFile.open(folder, header, timeout: timeout)
                if Safeguard.openOnce.stands {
                    try lock(environment, state.position)
                    place.forgetFormerReaders(environment)
                }
                state.environment = environment
                state.tables = nil
            }
            state.uses += 1
            return EnvironmentUse(environment, at: place)
        }
    }

    /// Finds the lock file by its name, and makes it if it is missing.
    ///
    /// It is not opened, because closing a descriptor of it would end the locks of an environment that is open. If it
    /// is missing, no process can have it open, so it can be made.
    private static func lockFile(_ folder: borrowing NamespaceFolder) throws(SpaceError) -> FileID {
        let (directory, files, mode) = (folder.descriptor.raw, folder.files, folder.fileMode)
        return try system("LMDB's lock file") {
            () throws(Errno) in
            if let info = try? Directory.info(at: directory, NamespaceFolder.lock) { return FileID(info) }
            _ = try? files.open(NamespaceFolder.lock, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
            return FileID(try Directory.info(at: directory, NamespaceFolder.lock))
        }
    }

    /// Reserves the blocks that a lock file copied into its place may lack, while no process has it open.
    private static func reserveLockFile(_ folder: borrowing NamespaceFolder) throws(SpaceError) {
        do throws(TrustedFolder.Refusal) {
            let file = try folder.files.open(NamespaceFolder.lock, flags: O_RDWR)
            do throws(Errno) {
                if try FileInfo.of(file.raw).allocated < DataFile.lockFileSize {
                    try Blocks.reserve(file.raw, from: 0, to: DataFile.lockFileSize, keepSize: false)
                }
                try Blocks.unshare(file.raw, to: DataFile.lockFileSize)
            } catch {
                throw .system(error)
            }
        } catch {
            throw SpaceError(error, subject: "LMDB's lock file")
        }
    }

    /// Checks that an open environment has the folder's data file: in a folder shared by a group, a member can exchange
    /// files.
    private static func checkData(_ environment: Environment, _ folder: borrowing NamespaceFolder) throws(SpaceError) {
        let directory = folder.descriptor.raw
        let isSame = try system("the data file") { () throws(Errno) in
            FileID(try FileInfo.of(environment.descriptor))
                == FileID(try Directory.info(at: directory, NamespaceFolder.data))
        }
        if !isSame { throw .damaged("its data file was replaced") }
    }

    /// Runs `body`, which may open and close a lock file, while this process has no environment open on it.
    ///
    /// - Returns: `nil` if it has one; then `body` does not run.
    package static func unlessOpen<R>(_ lockFile: FileInfo, _ body: () throws(SpaceError) -> R) throws(SpaceError) -> R?
    {
        let place = place(of: FileID(lockFile))
        return try place.state.withLock { (state) throws(SpaceError) in
            state.environment == nil ? try body() : nil
        }
    }

    /// The position that a process locks in `data.mdb`: no other process has the same, and no byte of the file is
    /// there.
    package static func position(of process: ProcessIdentity) -> Int {
        // 22 bits for the PID (proc(5), pid_max), and clock ticks for some hundred years.
        1 << 62 | Int(process.pid) << 39 | Int(process.startTime & (1 << 39 - 1))
    }

    private static func refuseSecondCopy(_ folder: borrowing NamespaceFolder, _ position: Int) throws(SpaceError) {
        let isHeld: Bool
        do throws(TrustedFolder.Refusal) {
            isHeld = try isLocked(folder.files, position)
        } catch .system(.noSuchFileOrDirectory) {
            // LMDB makes the file.
            return
        } catch {
            throw SpaceError(error, subject: "the data file")
        }
        if isHeld { throw secondCopy }
    }

    private static func isLocked(_ files: TrustedFolder, _ position: Int) throws(TrustedFolder.Refusal) -> Bool {
        let file = try files.open(NamespaceFolder.data, flags: O_RDONLY)
        do throws(Errno) {
            return try FileLock.isHeldByAnother(file.raw, byte: position)
        } catch {
            throw .system(error)
        }
    }

    private static func lock(_ environment: Environment, _ position: Int) throws(SpaceError) {
        let isMine = try system("the data file") { () throws(Errno) in
            try FileLock.tryExclusive(environment.descriptor, byte: position)
        }
        if !isMine { throw secondCopy }
    }

    private static var secondCopy: SpaceError {
        .incompatible(
            "another copy of the library in this same process has it open, and two would break each other's locks",
            advice: "link the library once, as a dynamic library that the program and its plug-ins share, or use the "
                + "namespace through one of the copies"
        )
    }

    /// Frees the slots of readers that bear this process's number before it has a reader.
    ///
    /// They are of the program that the process was before execve(2), or of a killed process that had the same PID. LMDB
    /// frees none of them: to it, they are readers of a living process.
    private func forgetFormerReaders(_ environment: Environment) {
        let process = getpid()
        guard let readers = try? environment.readers(), readers.contains(where: { $0.pid == process }) else { return }
        LockFileMap(lockFile)?.freeSlots(of: process)
    }

    // MARK: Closing

    package var tables: Tables? { state.withLock { $0.tables } }

    package func set(_ tables: Tables) { state.withLock { $0.tables = tables } }

    /// Ends a use; the end of the last use closes the environment before it returns.
    package func end() {
        let isClosedLate = !Safeguard.openOnce.stands
        let late = state.withLock { state -> Environment? in
            state.uses -= 1
            guard state.uses == 0, let environment = state.environment else { return nil }
            if isClosedLate || Self.close(environment, state.position) { state.environment = nil }
            return isClosedLate ? environment : nil
        }
        // This is the late close that the safeguard prevents.
        late?.close()
    }

    /// Closes the environment, and returns whether it is closed.
    private static func close(_ environment: Environment, _ position: Int) -> Bool {
        // The lock belongs to the open file, which mdb_env_close() closes before it frees the slots. So a duplicate
        // keeps the lock until then. Afterwards the lock is released, and not only closed, because a child made by fork
        // has the open file too.
        if let kept = try? OwnedDescriptor.duplicate(of: environment.descriptor) {
            guard environment.close() else { return false }
            try? FileLock.unlock(kept.raw, byte: position)
            return true
        }
        // No descriptor is left for a duplicate.
        try? FileLock.unlock(environment.descriptor, byte: position)
        if environment.close() { return true }
        _ = try? FileLock.tryExclusive(environment.descriptor, byte: position)
        return false
    }
}
