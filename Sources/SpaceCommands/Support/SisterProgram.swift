import Glibc

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

    /// Where it may be, in order; the last is its bare name, for PATH.
    var places: [String] {
        let folder = Self.ownPath?.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        return [folder.map { "\($0)/\(name)" }, name].compactMap(\.self)
    }

    /// The path of the program that can be run.
    ///
    /// - Throws: `CommandFailure` (unavailable) if there is none.
    func path() throws -> String {
        if let beside = places.first, beside.contains("/"), access(beside, X_OK) == 0 { return beside }
        let folders = getenv("PATH").map { String(cString: $0) }?.split(separator: ":") ?? []
        for folder in folders where access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
        throw CommandFailure(.unavailable, missing)
    }

    /// What is wrong if it is nowhere.
    var missing: String { "there is no \(name) beside this program or in PATH; build it with: \(build)" }
}
