import Glibc
import SharedSpace
import SpaceSystem

/// A root folder of a test's own, removed with everything in it.
package final class TemporaryRoot: Sendable {
    package let path: String
    package let space: Space

    /// Makes one, in a memory file system unless told otherwise.
    package init(in folder: String = "/dev/shm") throws {
        var template = Array("\(folder)/shared-space-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestFailure("mkdtemp in \(folder): errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        space = try Space(root: path)
    }

    deinit {
        // A tree is removed by its name in an open folder.
        let cut = path.lastIndex(of: "/") ?? path.startIndex
        guard let parent = try? OwnedDescriptor.open(String(path[..<cut]), flags: O_RDONLY | O_DIRECTORY) else {
            return
        }
        try? Directory.removeTree(at: parent.raw, String(path[path.index(after: cut)...]))
    }
}

/// An error with a text, for tests.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
