import Glibc
import SystemPackage

/// Turns the shims' convention (a result, or a negated error number) into a typed error.
@discardableResult
func checked(_ result: CInt) throws(Errno) -> CInt {
    guard result >= 0 else { throw Errno(rawValue: -result) }
    return result
}

/// Turns the shims' 64-bit results into a count or a typed error.
func checked(count result: Int64) throws(Errno) -> Int {
    guard result >= 0 else { throw Errno(rawValue: CInt(truncatingIfNeeded: -result)) }
    return Int(result)
}

/// Refuses a path that C would see cut off at a NUL, and so take for another.
func checkedPath(_ path: String) throws(Errno) {
    guard !path.utf8.contains(0) else { throw .invalidArgument }
}

/// Refuses what isn't one name inside a directory: it would reach elsewhere, or mean the directory itself.
func checkedName(_ name: String) throws(Errno) {
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "/"))
    else { throw .invalidArgument }
}
