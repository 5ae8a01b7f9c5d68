import Glibc
package import SpaceEngine
import SpaceMachines
package import SpaceSystem
import SystemPackage

/// The folder `.cluster` of a root: the daemon's lock and its socket.
///
/// One daemon serves a root: it holds the kernel's lock on the file `lock` as long as it lives, and only the holder puts
/// a socket in the folder. A socket that a killed daemon left is replaced by a rename, so a process that connects finds
/// the old one, which refuses, or the new one. The folder and the socket are for their user alone.
///
/// The files may be removed or moved. The daemon ends then, and until it has, another one can't begin: the daemon holds a
/// lock on the root, too.
package struct ClusterFolder: ~Copyable, Sendable {
    package static let name = ".cluster"
    package static let socket = "socket"
    private static let draft = "socket.new"
    private static let lock = DaemonSocket.lock

    private let directory: OwnedDescriptor
    private let lock: OwnedDescriptor
    private let rootLock: OwnedDescriptor
    /// The user that the root belongs to.
    package let owner: UInt32
    private let root: String

    /// Where processes and other daemons look for this one.
    package struct Place: Sendable {
        /// The files, by path, as they were at the daemon's beginning.
        fileprivate let files: [String: FileInfo]

        /// A file that is gone, or has been replaced by another one; `nil` if there is no such file, or if the system
        /// can't say.
        private var lost: String? {
            files.keys.sorted().first { path in
                do throws(Errno) {
                    let info = try Directory.info(at: AT_FDCWD, path)
                    return info.device != files[path]?.device || info.inode != files[path]?.inode
                } catch {
                    return error == .noSuchFileOrDirectory || error == .notDirectory
                }
            }
        }

        /// Waits until processes can no longer find the daemon because one of the files is lost, or the task is
        /// cancelled.
        ///
        /// - Returns: What has happened; `nil` if the task was cancelled.
        package func waitUntilLost(lookingEvery interval: Duration) async -> SpaceError? {
            while !Task.isCancelled {
                if let lost {
                    return SpaceError(
                        .inputOutput,
                        reason: "the daemon's file \(lost.quotedForPeople) was removed, moved or replaced",
                        advice: "start the daemon again, with the root where it is now"
                    )
                }
                try? await Task.sleep(for: interval)
            }
            return nil
        }
    }

    /// Opens the folder of a root, and makes it if it does not exist.
    ///
    /// - Throws: `holderBusy` if another daemon serves the root; `permissionDenied` if the folder is not this user's
    ///   alone.
    package static func open(root: String) throws(SpaceError) -> ClusterFolder {
        let shown = "\(root)/\(Self.name)".quotedForPeople
        let folder = try system(root.quotedForPeople) { () throws(Errno) in
            try OwnedDescriptor.open(root, flags: O_RDONLY | O_DIRECTORY)
        }
        let owner = try system(root.quotedForPeople) { () throws(Errno) in try FileInfo.of(folder.raw).owner }
        let directory = try system(shown) { () throws(Errno) in
            do throws(Errno) {
                return try Directory.makeDirectory(at: folder.raw, Self.name, mode: 0o700)
            } catch .fileExists {
                return try OwnedDescriptor.directory(at: folder.raw, Self.name)
            }
        }
        let info = try system(shown) { () throws(Errno) in try FileInfo.of(directory.raw) }
        guard info.owner == geteuid(), info.mode & 0o077 == 0 else {
            throw .permissionDenied(
                "the folder \(shown) belongs to another user, or others may use it",
                advice: "let the root's owner start the daemon, and chmod 700 the folder"
            )
        }
        let lock = try openLock(Self.lock, in: directory.raw, info, shown)
        _ = try openLock(DaemonSocket.making, in: directory.raw, info, shown)
        guard try system(shown, { () throws(Errno) in try FileLock.tryExclusive(lock.raw) }) else {
            throw SpaceError(
                .holderBusy,
                reason: "another daemon serves the root \(root.quotedForPeople)",
                advice: "end that daemon first: one is enough for all namespaces of a root"
            )
        }
        // A daemon whose folder was removed holds this one for the moment until it notices.
        guard try system(root.quotedForPeople, { () throws(Errno) in try FileLock.tryWhole(folder.raw) }) else {
            throw SpaceError(
                .holderBusy,
                reason: "another process has locked the root \(root.quotedForPeople), as a daemon does",
                advice: "try again in some seconds: a daemon whose files in \(shown) were removed ends then"
            )
        }
        return ClusterFolder(directory: directory, lock: lock, rootLock: folder, owner: owner, root: root)
    }

    private static func openLock(
        _ name: String,
        in directory: CInt,
        _ info: FileInfo,
        _ shown: String
    ) throws(SpaceError) -> OwnedDescriptor {
        do throws(TrustedFolder.Refusal) {
            return try TrustedFolder(directory, info).open(name, flags: O_RDWR | O_CREAT, mode: 0o600)
        } catch {
            throw SpaceError(
                .inputOutput,
                reason: "the daemon's file \(name) in \(shown) can't be opened: \(Self.told(error))",
                advice: "remove the file, if no daemon runs"
            )
        }
    }

    private static func told(_ refusal: TrustedFolder.Refusal) -> String {
        switch refusal {
        case .system(let error): error.told
        case .kind(.symbolicLink): "it is a symbolic link"
        case .kind: "it is no regular file"
        case .hardLink: "it has another name, too"
        case .foreign(let owner): "it belongs to the user \(owner)"
        }
    }

    private init(
        directory: consuming OwnedDescriptor,
        lock: consuming OwnedDescriptor,
        rootLock: consuming OwnedDescriptor,
        owner: UInt32,
        root: String
    ) {
        self.directory = directory
        self.lock = lock
        self.rootLock = rootLock
        self.owner = owner
        self.root = root
    }

    /// Puts the daemon's socket in the folder.
    package borrowing func listen() throws(SpaceError) -> OwnedDescriptor {
        let raw = directory.raw
        return try system("the daemon's socket") { () throws(Errno) in
            try Directory.unlink(at: raw, Self.draft)
            let listener = try LocalSocket.listening(at: raw, Self.draft, backlog: 512)
            try Directory.rename(from: raw, Self.draft, to: raw, Self.socket)
            return listener
        }
    }

    /// Where the daemon's files are, once it listens.
    package borrowing func place() throws(SpaceError) -> Place {
        var files: [String: FileInfo] = [:]
        for name in [Self.lock, Self.socket] {
            let raw = directory.raw
            files["\(root)/\(Self.name)/\(name)"] = try system("the daemon's file \(name)") { () throws(Errno) in
                try Directory.info(at: raw, name)
            }
        }
        return Place(files: files)
    }

    /// Removes the socket, so that a process learns at once that there is no daemon.
    package borrowing func removeSocket() { _ = try? Directory.unlink(at: directory.raw, Self.socket) }
}
