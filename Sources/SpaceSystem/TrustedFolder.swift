import CSpaceShims
import Glibc
package import SystemPackage

/// Opens files of a folder that other users may write in.
///
/// Guarantees, against another user who puts something else in a file's place: no symbolic link is followed, no open(2)
/// waits, and what is opened is a regular file that belongs to the folder. A file belongs to it that the folder's owner
/// owns; in a folder that a group shares, also a file that its owner opened to the same group. So a private file of another
/// user, reached through a hard link or a rename, is never opened for writing.
package struct TrustedFolder: Sendable {
    /// The open folder; the caller keeps it open.
    private let directory: CInt
    private let info: FileInfo
    private let checks: Bool

    /// - Parameters:
    ///   - directory: an open folder, which its caller has checked and keeps open.
    ///   - info: what fstat(2) said about it.
    ///   - checks: `false` in a test that shows what the checks are for.
    package init(_ directory: CInt, _ info: FileInfo, checks: Bool = true) {
        self.directory = directory
        self.info = info
        self.checks = checks
    }

    /// Why a file is not opened.
    package enum Refusal: Error, Hashable, Sendable {
        case system(Errno)
        /// It is a link, a FIFO, a folder, …
        case kind(FileInfo.Kind)
        /// It has another name, which may lie in another user's folder.
        case hardLink
        /// It is a file of a user who did not make it for this folder.
        case foreign(owner: UInt32)
    }

    /// Opens a file for use by its descriptor.
    ///
    /// - Parameters:
    ///   - name: its name in the folder.
    ///   - flags: `O_RDWR` and so on. With `O_CREAT` also `O_EXCL` is wanted if the file must be new.
    ///   - mode: the permissions of a file that this creates, before the umask.
    /// - Returns: The open file.
    /// - Throws: Why the file is not opened.
    package func open(_ name: String, flags: CInt, mode: UInt32 = 0) throws(Refusal) -> OwnedDescriptor {
        let file: OwnedDescriptor
        do throws(Errno) {
            // open(2): with O_NONBLOCK a FIFO or a device is opened without waiting, or ENXIO.
            file = try OwnedDescriptor.openat(
                directory: directory,
                name,
                flags: flags | (checks ? O_NOFOLLOW | O_NONBLOCK | O_NOCTTY : 0),
                mode: mode
            )
        } catch {
            throw refusal(error, name)
        }
        try check(file)
        return file
    }

    /// Finds a file without opening what is in it: for `/proc/self/fd`, where its name can't be swapped any more.
    ///
    /// The descriptor's end drops no lock of this process (fcntl(2): POSIX locks go when *any* descriptor of the file
    /// closes; one with O_PATH is none).
    package func find(_ name: String) throws(Refusal) -> OwnedDescriptor {
        let file: OwnedDescriptor
        do throws(Errno) {
            file = try OwnedDescriptor.openat(
                directory: directory,
                name,
                flags: space_flag_path_only() | O_NOFOLLOW
            )
        } catch {
            throw .system(error)
        }
        try check(file)
        return file
    }

    private func check(_ file: borrowing OwnedDescriptor) throws(Refusal) {
        guard checks else { return }
        let found: FileInfo
        do throws(Errno) { found = try FileInfo.of(file.raw) } catch { throw .system(error) }
        guard found.kind == .regular else { throw .kind(found.kind) }
        // 0: it was removed a moment ago.
        guard found.linkCount <= 1 else { throw .hardLink }
        guard found.owner == info.owner || isOpenToGroup(found) else { throw .foreign(owner: found.owner) }
    }

    private func isOpenToGroup(_ file: FileInfo) -> Bool {
        info.mode & 0o070 == 0o070 && file.group == info.group && file.mode & 0o060 == 0o060
    }

    /// What open(2) says of a link, a FIFO or a folder doesn't say that it is one.
    private func refusal(_ error: Errno, _ name: String) -> Refusal {
        switch error {
        case .tooManySymbolicLinkLevels, .noSuchAddressOrDevice, .isDirectory:
            guard let kind = try? Directory.info(at: directory, name).kind, kind != .regular else {
                return .system(error)
            }
            return .kind(kind)
        default:
            return .system(error)
        }
    }
}
