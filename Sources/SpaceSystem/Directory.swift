import CSpaceShims
import Glibc
package import SystemPackage

/// Operations on names in open directories: another process can exchange the target of a path at any time, but not an
/// open directory.
///
/// Every name is a single path component (`EINVAL` otherwise), and no symbolic link is followed.
package enum Directory {
    /// Makes a directory.
    ///
    /// - Parameters:
    ///   - directory: the open directory in which it is made.
    ///   - name: its name.
    ///   - mode: the exact permissions, whatever the umask: a group's namespace must not lose its group bits.
    /// - Returns: the new directory. It belongs to this process's user, even if other users may write in `directory`
    ///   and exchange its name.
    /// - Throws: `EEXIST` if the name is taken; `EPERM` if another user's directory was put in its place.
    @discardableResult
    package static func makeDirectory(
        at directory: CInt,
        _ name: String,
        mode: UInt32
    ) throws(Errno) -> OwnedDescriptor {
        try checkedName(name)
        // The directory is made closed to the group and others, then opened up, so it never allows more than `mode`.
        guard mkdirat(directory, name, mode & 0o700) == 0 else { throw Errno(rawValue: errno) }
        let made = try openMade(at: directory, name)
        guard try FileInfo.of(made.raw).owner == geteuid() else { throw .notPermitted }
        try setMode(made.raw, mode)
        return made
    }

    /// Opens a directory that this process has just made, even if the umask has left its user no permission.
    ///
    /// - Parameters:
    ///   - directory: the open directory in which it was made.
    ///   - name: its name, or a path.
    /// - Returns: the open directory.
    /// - Throws: the errors of open(2); `EPERM` if another user's directory was put in its place.
    package static func openMade(at directory: CInt, _ name: String) throws(Errno) -> OwnedDescriptor {
        do throws(Errno) {
            return try OwnedDescriptor.directory(at: directory, name)
        } catch .permissionDenied {
            // open(2): O_PATH needs no permission of the file itself. The path in /proc leads to the opened file, whatever
            // another user puts in its place.
            let place = try OwnedDescriptor.openat(
                directory: directory,
                name,
                flags: space_flag_path_only() | O_NOFOLLOW | O_DIRECTORY
            )
            guard try FileInfo.of(place.raw).owner == geteuid() else { throw .notPermitted }
            guard chmod("/proc/self/fd/\(place.raw)", 0o700) == 0 else { throw Errno(rawValue: errno) }
            return try OwnedDescriptor.directory(at: directory, name)
        }
    }

    /// Makes a directory that has its permissions from the moment at which it has its name.
    ///
    /// If the process is killed inside `makeDirectory(at:_:mode:)`, it may leave a directory that is closed to its
    /// group.
    ///
    /// - Parameters:
    ///   - directory: the open directory in which it is made.
    ///   - name: its name.
    ///   - mode: the exact permissions.
    ///   - draft: a name that no other process uses; if the process is killed, an empty directory remains there.
    /// - Throws: `EEXIST` if the name is taken.
    package static func makeDirectory(
        at directory: CInt,
        _ name: String,
        mode: UInt32,
        draft: String
    ) throws(Errno) {
        try makeDirectory(at: directory, draft, mode: mode)
        do throws(Errno) {
            try renameNoReplace(from: directory, draft, to: directory, name)
        } catch {
            try? removeEmpty(at: directory, draft)
            throw error
        }
    }

    /// Removes an empty directory; rmdir(2) needs no permission in it, only in its parent.
    ///
    /// - Throws: `ENOTEMPTY` if it isn't empty, `ENOENT` if it does not exist.
    package static func removeEmpty(at directory: CInt, _ name: String) throws(Errno) {
        try checkedName(name)
        guard unlinkat(directory, name, AT_REMOVEDIR) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Sets an open file's permissions; the umask has no effect.
    package static func setMode(_ descriptor: CInt, _ mode: UInt32) throws(Errno) {
        guard fchmod(descriptor, mode) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Sets an open file's group.
    package static func setGroup(_ descriptor: CInt, _ group: UInt32) throws(Errno) {
        // chown(2): −1 leaves the owner as it is.
        guard fchown(descriptor, uid_t.max, group) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Renames an entry, and replaces the file under the new name.
    package static func rename(
        from source: CInt,
        _ name: String,
        to target: CInt,
        _ newName: String
    ) throws(Errno) {
        try checkedName(name)
        try checkedName(newName)
        guard renameat(source, name, target, newName) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Renames an entry unless the new name is taken; if several processes try at once, one succeeds.
    ///
    /// - Throws: `EEXIST` if the new name is taken; `EINVAL` also if the file system doesn't support it (renameat2(2)).
    package static func renameNoReplace(
        from source: CInt,
        _ name: String,
        to target: CInt,
        _ newName: String
    ) throws(Errno) {
        try checkedName(name)
        try checkedName(newName)
        try checked(space_rename_no_replace(source, name, target, newName))
    }

    /// Removes a name of anything but a directory.
    ///
    /// - Returns: `false` if the name did not exist.
    @discardableResult
    package static func unlink(at directory: CInt, _ name: String) throws(Errno) -> Bool {
        try checkedName(name)
        if unlinkat(directory, name, 0) == 0 { return true }
        let error = Errno(rawValue: errno)
        guard error == .noSuchFileOrDirectory else { throw error }
        return false
    }

    /// Makes a symbolic link, whose text need not be a path.
    ///
    /// - Throws: `EEXIST` if the name is taken.
    package static func link(at directory: CInt, _ name: String, to text: String) throws(Errno) {
        try checkedName(name)
        try checkedPath(text)
        guard symlinkat(text, directory, name) == 0 else { throw Errno(rawValue: errno) }
    }

    /// The text of a symbolic link, or `nil` if there is no such link, or its text is longer than `limit` or not UTF-8.
    package static func linkText(at directory: CInt, _ name: String, limit: Int) throws(Errno) -> String? {
        try checkedName(name)
        var bytes = [CChar](repeating: 0, count: max(0, limit) + 1)
        let count = readlinkat(directory, name, &bytes, bytes.count)
        guard count >= 0 else {
            let error = Errno(rawValue: errno)
            // readlink(2): EINVAL for a file of another kind.
            guard error == .noSuchFileOrDirectory || error == .invalidArgument else { throw error }
            return nil
        }
        guard count <= limit else { return nil }
        return String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The names in a directory, in no order, without `.` and `..`.
    ///
    /// Names that aren't UTF-8 are left out: this project makes none, and a repaired name would name no file.
    package static func list(_ directory: CInt) throws(Errno) -> [String] {
        try rawNames(directory).compactMap { name in
            String(validating: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// All names in a directory, to be compared, not to be opened: a name that isn't UTF-8 has replacement characters.
    package static func allNames(_ directory: CInt) throws(Errno) -> [String] {
        try rawNames(directory).map { name in
            String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The names as NUL-terminated bytes.
    static func rawNames(_ directory: CInt) throws(Errno) -> [[CChar]] {
        var opened: OpaquePointer?
        try checked(space_open_listing(directory, &opened))
        guard let stream = opened else { throw .ioError }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        var entry: UnsafePointer<dirent>?
        while try checked(space_next_entry(stream, &entry)) == 1 {
            guard let found = entry else { break }
            let name = space_entry_name(found)
            let bytes = Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
            if bytes != [46, 0], bytes != [46, 46, 0] { names.append(bytes) }
        }
        return names
    }

    /// Syncs the directory, so that its names survive a power failure (fsync(2)).
    package static func sync(_ descriptor: CInt) throws(Errno) {
        while fsync(descriptor) != 0 {
            let error = Errno(rawValue: errno)
            guard error == .interrupted else { throw error }
        }
    }
}
