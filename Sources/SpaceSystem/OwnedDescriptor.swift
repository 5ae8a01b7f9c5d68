import CSpaceShims
import Glibc
package import SystemPackage

/// A file descriptor that is closed exactly once, when its owner is released.
package struct OwnedDescriptor: ~Copyable, Sendable {
    package let raw: CInt

    /// Takes over a descriptor that no other code closes.
    package init(adopting raw: CInt) {
        self.raw = raw
    }

    deinit {
        // close(2): it is never retried on EINTR. On Linux the descriptor is closed by then, and its number may already
        // belong to another thread.
        _ = close(raw)
    }

    /// Gives up ownership: the caller closes the descriptor.
    package consuming func release() -> CInt {
        let raw = raw
        discard self
        return raw
    }
}

extension OwnedDescriptor {
    /// Opens a path; the descriptor is close-on-exec whatever `flags` say.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - flags: `O_RDWR` and so on. Add `O_NOFOLLOW` to refuse a symbolic link as the last component (`ELOOP`).
    ///   - mode: the permissions of a file that this creates, before the umask.
    /// - Returns: the owner of the new descriptor.
    /// - Throws: the errors of open(2); `EINVAL` if the path contains a NUL. `EINTR` is retried.
    package static func open(_ path: String, flags: CInt, mode: UInt32 = 0) throws(Errno) -> OwnedDescriptor {
        try openat(directory: AT_FDCWD, path, flags: flags, mode: mode)
    }

    /// Opens a path; the descriptor is close-on-exec whatever `flags` say.
    package static func open(_ path: FilePath, flags: CInt, mode: UInt32 = 0) throws(Errno) -> OwnedDescriptor {
        let result = path.withPlatformString { space_openat(AT_FDCWD, $0, flags, mode) }
        return OwnedDescriptor(adopting: try checked(result))
    }

    /// Opens a path relative to an open directory; the descriptor is close-on-exec whatever `flags` say.
    package static func openat(
        directory: CInt,
        _ path: String,
        flags: CInt,
        mode: UInt32 = 0
    ) throws(Errno) -> OwnedDescriptor {
        try checkedPath(path)
        return OwnedDescriptor(adopting: try checked(space_openat(directory, path, flags, mode)))
    }

    /// Opens a directory for use in `…at` calls; refuses a symbolic link in its place.
    package static func directory(_ path: FilePath) throws(Errno) -> OwnedDescriptor {
        try open(path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }

    /// Opens a directory inside another; refuses a symbolic link in its place.
    package static func directory(at parent: CInt, _ name: String) throws(Errno) -> OwnedDescriptor {
        try openat(directory: parent, name, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }

    /// Makes a pipe whose ends are both close-on-exec; the caller owns them.
    package static func pipe() throws(Errno) -> (reading: CInt, writing: CInt) {
        var ends: (CInt, CInt) = (-1, -1)
        let result = withUnsafeMutablePointer(to: &ends) { pointer in
            pointer.withMemoryRebound(to: CInt.self, capacity: 2) { space_pipe($0) }
        }
        try checked(result)
        return (ends.0, ends.1)
    }

    /// Makes a file in memory that has no name in any folder (memfd_create(2)).
    ///
    /// - Parameter name: What it is called in /proc.
    /// - Returns: The owner of the new descriptor.
    /// - Throws: The errors of memfd_create(2).
    package static func memoryFile(_ name: String) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(adopting: try checked(space_memory_file(name)))
    }

    /// Makes another descriptor of the open file that a descriptor refers to, close-on-exec; both share locks and offset.
    package static func duplicate(of raw: CInt) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(adopting: try checked(space_duplicate(raw)))
    }

    /// A path by which this process reaches the open file, even if the file's name has changed or was removed.
    package var procPath: String { Self.procPath(of: raw) }

    package static func procPath(of descriptor: CInt) -> String { "/proc/self/fd/\(descriptor)" }

    /// Whether the descriptor survives `exec`.
    package func setInheritable(_ inheritable: Bool) throws(Errno) {
        try checked(space_set_close_on_exec(raw, !inheritable))
    }
}
