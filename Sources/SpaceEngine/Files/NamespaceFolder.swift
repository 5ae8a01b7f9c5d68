import Glibc
package import SpaceSystem
import SystemPackage

/// A namespace's folder, opened and checked: its owner is trusted, and no symbolic link led to it.
///
/// All files are opened through its descriptor, so two namespaces can't be mixed if the path is swapped.
package struct NamespaceFolder: ~Copyable {
    package static let control = "control"
    package static let changeSignal = "bell"
    package static let data = "data.mdb"
    package static let lock = "lock.mdb"

    package let name: NamespaceName
    package let root: SpaceRoot
    package let descriptor: OwnedDescriptor
    package let info: FileInfo

    /// Opens a namespace's folder, or returns `nil` if the namespace does not exist.
    package static func open(
        _ name: NamespaceName,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot
    ) throws(SpaceError) -> NamespaceFolder? {
        let path = "\(root.path)/\(name.encoded)"
        let folder: NamespaceFolder
        do throws(Errno) {
            let descriptor = try OwnedDescriptor.directory(at: rootFolder.raw, name.encoded)
            let info = try FileInfo.of(descriptor.raw)
            folder = NamespaceFolder(name: name, root: root, descriptor: descriptor, info: info)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch .notDirectory, .tooManySymbolicLinkLevels {
            throw .permissionDenied(
                "\(path.quotedForPeople) is a symbolic link or no folder",
                advice: "look who made it, and remove it"
            )
        } catch .permissionDenied {
            throw .permissionDenied(
                "\(path.quotedForPeople) is its owner's, who shares it with nobody, or with a group to which this process "
                    + "does not belong",
                advice: "a namespace is shared when it is made: space write NS --group GROUP"
            )
        } catch {
            throw SpaceError(error, subject: path.quotedForPeople)
        }
        try SpaceRoot.check(folder.info, path)
        return folder
    }

    package init(name: NamespaceName, root: SpaceRoot, descriptor: consuming OwnedDescriptor, info: FileInfo) {
        self.name = name
        self.root = root
        self.descriptor = descriptor
        self.info = info
    }

    /// The identity under which a process keeps track of what it has open.
    package struct ID: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64

        package init(_ folder: FileInfo) {
            device = folder.device
            inode = folder.inode
        }
    }

    package var id: ID { ID(info) }

    /// Whether the path still leads to this folder.
    package func isInPlace(in rootFolder: borrowing OwnedDescriptor) -> Bool {
        guard let now = try? Directory.info(at: rootFolder.raw, name.encoded) else { return false }
        return now.inode == info.inode && now.device == info.device
    }

    /// The folder's files, which are opened only if they are what the library makes there.
    var files: TrustedFolder { TrustedFolder(descriptor.raw, info, checks: Safeguard.ownFiles.stands) }

    /// Whether other users may replace a file of the folder.
    package var isShared: Bool { info.mode & 0o020 != 0 }

    package func openControl(flags: CInt = O_RDWR) throws(SpaceError) -> OwnedDescriptor {
        do throws(TrustedFolder.Refusal) {
            return try files.open(Self.control, flags: flags)
        } catch {
            guard isNamespace else {
                throw .damaged(
                    "\("\(root.path)/\(name.encoded)".quotedForPeople) is a folder without a namespace's files",
                    advice: "choose another name, or another root (SHARED_SPACE_ROOT or --root)"
                )
            }
            throw SpaceError(error, subject: "the control file")
        }
    }

    /// Opens the folder of sessions; if it is missing and `makingAnew` is true, makes it, because a clean-up may have
    /// removed it.
    package func sessions(makingAnew: Bool = false) throws(SpaceError) -> SessionFolder {
        let mode = info.mode & 0o2770
        return try system("the folder of sessions") { () throws(Errno) in
            do throws(Errno) {
                return try SessionFolder(in: descriptor)
            } catch .noSuchFileOrDirectory where makingAnew {
                do throws(Errno) {
                    let draft = try Nursery.draft(of: ".\(SessionFolder.name)", number: 0)
                    try Directory.makeDirectory(at: descriptor.raw, SessionFolder.name, mode: mode, draft: draft)
                } catch .fileExists {
                    // Another process was quicker.
                }
                return try SessionFolder(in: descriptor)
            }
        }
    }

    /// Sends the change signal: raises an event for each process whose inotify watches the file `bell`.
    package func signalChange() {
        // write(2): beyond RLIMIT_FSIZE it raises SIGXFSZ. If the limit is 0, the watchers learn of the change at the
        // tick.
        guard ResourceLimits.fileSize != 0 else { return }
        guard let file = try? files.open(Self.changeSignal, flags: O_WRONLY) else { return }
        try? FileBytes.write([1], to: file.raw)
    }

    /// The permissions of the folder's files: shared with a group if the folder is.
    package var fileMode: UInt32 { info.mode & 0o660 }
}
