import Glibc
import SpaceSystem
import SystemPackage
import Testing

/// A folder of the test's own, in memory, removed with this value.
final class TemporaryFolder {
    let path: String
    let directory: CInt

    init(in parent: String = "/dev/shm") throws {
        var template = Array("\(parent)/space-system-tests-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = FilePath(platformString: template).string
        directory = try OwnedDescriptor.directory(FilePath(path)).release()
    }

    deinit {
        close(directory)
        if let parent = try? OwnedDescriptor.directory(FilePath(path).removingLastComponent()),
            let name = FilePath(path).lastComponent?.string
        {
            try? Directory.removeTree(at: parent.raw, name)
        }
    }

    func file(_ name: String, size: Int = 0) throws -> OwnedDescriptor {
        let file = try OwnedDescriptor.openat(directory: directory, name, flags: O_RDWR | O_CREAT, mode: 0o600)
        if size > 0 { try Blocks.reserve(file.raw, from: 0, to: size, keepSize: false) }
        return file
    }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    /// A page shared with children, holding an initialised mutex at its beginning.
    func mutexPage(_ name: String = "page") throws -> (page: MappedFile, mutex: SharedMutex) {
        let page = try MappedFile(try file(name, size: 4096), length: 4096)
        let mutex = SharedMutex(at: page.base)
        try mutex.initialise()
        return (page, mutex)
    }
}
