import CSpaceShims

/// This process's soft limits (getrlimit(2)); `nil` means unlimited.
package enum ResourceLimits {
    /// The largest file that the process may make, in bytes; a write or truncation beyond it raises SIGXFSZ.
    package static var fileSize: UInt64? { limit(SPACE_LIMIT_FILE_SIZE) }

    /// One more than the highest descriptor that the process may have.
    package static var openFiles: UInt64? { limit(SPACE_LIMIT_OPEN_FILES) }

    /// The largest address space that the process may map, in bytes.
    package static var addressSpace: UInt64? { limit(SPACE_LIMIT_ADDRESS_SPACE) }

    /// Raises the limit of open files as far as the process may, up to a number.
    ///
    /// Only for a program's own main file: programs that it starts inherit the limit.
    package static func raiseOpenFiles(to most: UInt64) { space_raise_open_files(most) }

    private static func limit(_ which: space_limit) -> UInt64? {
        var value = UInt64.max
        // getrlimit(2) fails only for an unknown resource or a bad address.
        _ = space_limit(which, &value)
        return value == .max ? nil : value
    }
}
