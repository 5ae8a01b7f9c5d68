import CSpaceShims
import Glibc
package import SystemPackage

/// Names in open directories: what a path leads to can be swapped at any time, an open directory can't.
///
/// Every name is a single one (`EINVAL` otherwise), and no symbolic link is followed.
package enum Directory {
    /// Makes a directory.
    ///
    /// - Parameters:
    ///   - directory: the open directory in which it is made.
    ///   - name: its name.
    ///   - mode: the exact permissions, whatever the umask: a group's namespace must not lose its group bits.
    /// - Throws: `EEXIST` when the name is taken.
    package static func makeDirectory(at directory: CInt, _ name: String, mode: UInt32) throws(Errno) {
        try checkedName(name)
        // Born closed to others, then opened up: no moment in which more is allowed than asked for.
        guard mkdirat(directory, name, mode & 0o700) == 0 else { throw Errno(rawValue: errno) }
        let made = try OwnedDescriptor.directory(at: directory, name)
        try setMode(made.raw, mode)
    }

    /// Sets an open file's permissions, untouched by the umask.
    package static func setMode(_ descriptor: CInt, _ mode: UInt32) throws(Errno) {
        guard fchmod(descriptor, mode) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Sets an open file's group.
    package static func setGroup(_ descriptor: CInt, _ group: UInt32) throws(Errno) {
        // chown(2): −1 leaves the owner as it is.
        guard fchown(descriptor, uid_t.max, group) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Moves a name, replacing what is under the new one.
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

    /// Moves a name, unless the new one is taken: of several who try at once, one succeeds.
    ///
    /// - Throws: `EEXIST` when it is taken; `EINVAL` also from a file system that can't (renameat2(2)).
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

    /// Removes a name that isn't a directory's.
    ///
    /// - Returns: `false` when there was none.
    @discardableResult
    package static func unlink(at directory: CInt, _ name: String) throws(Errno) -> Bool {
        try checkedName(name)
        if unlinkat(directory, name, 0) == 0 { return true }
        let error = Errno(rawValue: errno)
        guard error == .noSuchFileOrDirectory else { throw error }
        return false
    }

    /// The names in a directory, in no order, without `.` and `..`.
    ///
    /// Names that aren't UTF-8 are left out: this project makes none, and a repaired one would lead nowhere.
    package static func list(_ directory: CInt) throws(Errno) -> [String] {
        try rawNames(directory).compactMap { name in
            String(validating: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The names as the NUL-terminated bytes that they are.
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

    /// Makes the directory's names last through a power cut (fsync(2) on a directory).
    package static func sync(_ descriptor: CInt) throws(Errno) {
        while fsync(descriptor) != 0 {
            let error = Errno(rawValue: errno)
            guard error == .interrupted else { throw error }
        }
    }
}
