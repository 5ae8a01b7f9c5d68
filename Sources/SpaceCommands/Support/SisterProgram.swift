import Glibc
import SystemPackage

/// A program of its own that belongs to `space`, such as `space-serve`: it is looked for beside this program, and then in
/// PATH.
struct SisterProgram {
    let name: String
    /// The command that builds it.
    let build: String

    /// The path of this program; `nil` if /proc is not there.
    static var ownPath: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        // readlink(2) ends the path with no null byte: the array has one more.
        guard readlink("/proc/self/exe", &buffer, buffer.count - 1) > 0 else { return nil }
        return buffer.withUnsafeBufferPointer { String(validatingCString: $0.baseAddress!) }
    }

    /// Becomes the program, with the signals and the mask that this one was started with.
    ///
    /// - Parameter arguments: Its argv, with the null pointer at the end.
    /// - Throws: `CommandFailure` (unavailable) if there is no such program, or it can't be run; `Terminated` if a signal has
    ///   asked this program to end.
    func become(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Never {
        // A signal that comes later ends this process at once, and is not lost with it.
        Signals.dieAtOnce()
        try Signals.check()
        Signals.restoreForExec()
        let folder = Self.ownPath?.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        let beside = folder.map { "\($0)/\(name)" }
        var failure = Errno.noSuchFileOrDirectory
        if let beside {
            // execv(3), unlike execvp(3), runs no file that is no program as a shell's script.
            execv(beside, arguments)
            failure = Errno(rawValue: errno)
        }
        if failure == .noSuchFileOrDirectory || failure == .permissionDenied {
            // A bare name is looked for in PATH.
            execvp(name, arguments)
        }
        throw CommandFailure(
            .unavailable,
            failure == .noSuchFileOrDirectory
                ? "there is no \(name) beside this program or in PATH; build it with: \(build)"
                : "cannot run \(beside ?? name): \(failure); build it again with: \(build)"
        )
    }
}
