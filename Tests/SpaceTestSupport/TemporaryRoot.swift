import Glibc
public import SharedSpace
import SpaceSystem

/// A root folder of a test's own, removed with everything in it.
public final class TemporaryRoot: Sendable {
    public let path: String
    public let space: Space

    /// - Parameter folder: Where it is made; a memory file system by default.
    public init(in folder: String = "/dev/shm") throws {
        var template = Array("\(folder)/shared-space-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestFailure("mkdtemp in \(folder): errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        space = try Space(root: path)
    }

    deinit { try? Directory.removeTree(at: AT_FDCWD, path) }
}

/// An error with a text, for tests.
public struct TestFailure: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
