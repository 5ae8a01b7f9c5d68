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
    /// - Returns: the new directory, which is this process's also where others may write: only its name can be swapped.
    /// - Throws: `EEXIST` when the name is taken; `EPERM` when another user's directory was put in its place.
    @discardableResult
    package static func makeDirectory(
        at directory: CInt,
        _ name: String,
        mode: UInt32
    ) throws(Errno) -> OwnedDescriptor {
        try checkedName(name)
        // Born closed to others, then opened up: no moment in which more is allowed than asked for.
        guard mkdirat(directory, name, mode & 0o700) == 0 else { throw Errno(rawValue: errno) }
        let made = try OwnedDescriptor.directory(at: directory, name)
        guard try FileInfo.of(made.raw).owner == geteuid() else { throw .notPermitted }
        try setMode(made.raw, mode)
        return made
    }

    /// Makes a directory that has its permissions from the moment at which it has its name.
    ///
    /// `makeDirectory(at:_:mode:)` alone leaves a directory that is closed to its group where the process is killed in between.
    ///
    /// - Parameters:
    ///   - directory: the open directory in which it is made.
    ///   - name: its name.
    ///   - mode: the exact permissions.
    ///   - draft: a name that no other process uses; a process that is killed leaves an empty directory there.
    /// - Throws: `EEXIST` when the name is taken.
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

    /// Removes a directory that is empty; rmdir(2) asks for no right in it, only in the one that it lies in.
    ///
    /// - Throws: `ENOTEMPTY` when it isn't empty, `ENOENT` when there is none.
    package static func removeEmpty(at directory: CInt, _ name: String) throws(Errno) {
        try checkedName(name)
        guard unlinkat(directory, name, AT_REMOVEDIR) == 0 else { throw Errno(rawValue: errno) }
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

    /// Makes a symbolic link, whose text need not be a path.
    ///
    /// - Throws: `EEXIST` when the name is taken.
    package static func link(at directory: CInt, _ name: String, to text: String) throws(Errno) {
        try checkedName(name)
        try checkedPath(text)
        guard symlinkat(text, directory, name) == 0 else { throw Errno(rawValue: errno) }
    }

    /// The text of a symbolic link; `nil` when the name is none's, or the text is longer than `limit` or no UTF-8.
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
    /// Names that aren't UTF-8 are left out: this project makes none, and a repaired one would lead nowhere.
    package static func list(_ directory: CInt) throws(Errno) -> [String] {
        try rawNames(directory).compactMap { name in
            String(validating: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// All names in a directory, those that aren't UTF-8 with replacement characters: to be compared, not to be opened.
    package static func allNames(_ directory: CInt) throws(Errno) -> [String] {
        try rawNames(directory).map { name in
            String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
