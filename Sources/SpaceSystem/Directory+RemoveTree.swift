import CSpaceShims
import Glibc
package import SystemPackage

// Deletion that can be repeated.
//
// Guarantees: Several processes may delete the same tree at the same time, and any of them may be killed in the middle.
// An entry that is already gone counts as removed, and a later call finds the remaining entries under the same name.
// The deletion uses open directories, so it never leaves the tree, even if a symbolic link or another directory is put
// in an entry's place. It stays on one file system.

extension Directory {
    /// Removes the file or directory under this name, with all its contents; succeeds if the name does not exist.
    ///
    /// If an entry can't be removed, the deletion goes on with the others, and throws the first error at the end.
    ///
    /// - Throws: `EXDEV` at another file system, `ELOOP` below 64 levels, `ENOTEMPTY` if another process keeps adding
    ///   entries.
    package static func removeTree(at directory: CInt, _ name: String) throws(Errno) {
        try checkedName(name)
        let device = try FileInfo.of(directory).device
        try remove(at: directory, Array(name.utf8CString), device: device, level: 0)
    }

    private static let deepest = 64
    private static let attempts = 16

    private static func remove(at parent: CInt, _ name: [CChar], device: UInt64, level: Int) throws(Errno) {
        guard level < deepest else { throw .tooManySymbolicLinkLevels }
        var last = Errno.directoryNotEmpty
        for _ in 0..<attempts {
            if unlinkat(parent, name, 0) == 0 { return }
            last = Errno(rawValue: errno)
            if last == .noSuchFileOrDirectory { return }
            // unlink(2): for a directory EISDIR on Linux, EPERM on some file systems. An immutable file gives EPERM
            // too.
            guard last == .isDirectory || last == .notPermitted else { throw last }

            let opened = space_openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK, 0)
            if opened < 0 {
                let error = Errno(rawValue: -opened)
                if error == .noSuchFileOrDirectory { return }
                // The entry has been replaced meanwhile: try again.
                if error == .notDirectory || error == .tooManySymbolicLinkLevels { continue }
                throw error
            }
            let contents = OwnedDescriptor(adopting: opened)
            try empty(contents.raw, device: device, level: level)

            if unlinkat(parent, name, AT_REMOVEDIR) == 0 { return }
            last = Errno(rawValue: errno)
            switch last {
            case .noSuchFileOrDirectory: return
            // rmdir(2): another process has added an entry, or replaced the directory.
            case .directoryNotEmpty, .fileExists, .notDirectory: continue
            case let error: throw error
            }
        }
        throw last
    }

    private static func empty(_ directory: CInt, device: UInt64, level: Int) throws(Errno) {
        guard try FileInfo.of(directory).device == device else { throw .improperLink }
        var first: Errno?
        for name in try rawNames(directory) {
            do throws(Errno) {
                try remove(at: directory, name, device: device, level: level + 1)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }
}
