import CSpaceShims
import Glibc
package import SystemPackage

/// Opens files of a folder that other users may write in.
///
/// Guarantees, even if another user puts something else in a file's place: No symbolic link is followed, no open(2)
/// waits, and only a regular file that belongs to the folder is opened. A file belongs to the folder if the folder's
/// owner owns it. In a folder that a group shares, a file also belongs to it if the file's owner has opened the file to
/// the same group. So a private file of another user, reached through a hard link or a rename, is never opened for
/// writing.
package struct TrustedFolder: Sendable {
    /// The open folder; the caller keeps it open.
    private let directory: CInt
    private let info: FileInfo
    private let checks: Bool

    /// - Parameters:
    ///   - directory: an open folder, which the caller has checked and keeps open.
    ///   - info: the folder's fstat(2).
    ///   - checks: `false` in a test that shows the effect of the checks.
    package init(_ directory: CInt, _ info: FileInfo, checks: Bool = true) {
        self.directory = directory
        self.info = info
        self.checks = checks
    }

    /// Why a file is not opened.
    package enum Refusal: Error, Hashable, Sendable {
        case system(Errno)
        /// The file is a link, a FIFO, a folder, …
        case kind(FileInfo.Kind)
        /// The file has another name, which may be in another user's folder.
        case hardLink
        /// The file belongs to a user who did not make it for this folder.
        case foreign(owner: UInt32)
    }

    /// Opens a file for use by its descriptor.
    ///
    /// - Parameters:
    ///   - name: its name in the folder.
    ///   - flags: `O_RDWR` and so on. If the file must be new, use `O_EXCL` together with `O_CREAT`.
    ///   - mode: the permissions of a file that this creates, before the umask.
    /// - Returns: The open file.
    /// - Throws: Why the file is not opened.
    package func open(_ name: String, flags: CInt, mode: UInt32 = 0) throws(Refusal) -> OwnedDescriptor {
        let file: OwnedDescriptor
        do throws(Errno) {
            // open(2): with O_NONBLOCK, a FIFO or a device is opened without waiting, or gives ENXIO.
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
        if flags & O_CREAT != 0 { openToOwner(file.raw, mode) }
        return file
    }

    /// Gives the owner of a file that was made the permissions that the umask has taken away.
    private func openToOwner(_ file: CInt, _ mode: UInt32) {
        guard let found = try? FileInfo.of(file), found.mode & mode & 0o600 != mode & 0o600 else { return }
        // Only the owner may do it; if it fails, the next one that opens the file is told.
        try? Directory.setMode(file, found.mode | mode & 0o600)
    }

    /// Finds a file without opening its contents.
    ///
    /// Use the descriptor's path under `/proc/self/fd`: no other user can put another file in its place.
    ///
    /// Closing the descriptor releases no lock of this process. (fcntl(2): POSIX locks are released when *any*
    /// descriptor of the file is closed; a descriptor with O_PATH doesn't count.)
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
        // The count is 0 if the file was removed a moment ago.
        guard found.linkCount <= 1 else { throw .hardLink }
        guard found.owner == info.owner || isOpenToGroup(found) else { throw .foreign(owner: found.owner) }
    }

    private func isOpenToGroup(_ file: FileInfo) -> Bool {
        info.mode & 0o070 == 0o070 && file.group == info.group && file.mode & 0o060 == 0o060
    }

    /// Why open(2) failed: its error for a link, a FIFO or a folder doesn't tell the kind, so the kind is read from the
    /// name.
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
