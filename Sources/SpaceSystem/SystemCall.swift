import CSpaceShims
package import SystemPackage

/// Turns the shims' convention (a result, or a negated error number) into a typed error.
@discardableResult
func checked(_ result: CInt) throws(Errno) -> CInt {
    guard result >= 0 else { throw Errno(rawValue: -result) }
    return result
}

extension Errno {
    /// The error in words; read it on the thread that got the error from this module.
    ///
    /// If a container's seccomp profile or an old kernel has refused a system call, the words name the call.
    package var told: String {
        guard self == .noFunction else { return "\(self)" }
        let call = String(cString: space_refused_call())
        return
            "the kernel or a seccomp filter refuses the system call \(call); allow it in the container's seccomp profile"
    }
}

/// Turns the shims' 64-bit results into a count or a typed error.
func checked(count result: Int64) throws(Errno) -> Int {
    guard result >= 0 else { throw Errno(rawValue: CInt(truncatingIfNeeded: -result)) }
    return Int(result)
}

/// Refuses a path with a NUL: C would read it as another, shorter path.
func checkedPath(_ path: String) throws(Errno) {
    guard !path.utf8.contains(0) else { throw .invalidArgument }
}

/// Refuses anything but a single name inside a directory: it would reach elsewhere, or mean the directory itself.
func checkedName(_ name: String) throws(Errno) {
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "/"))
    else { throw .invalidArgument }
}
