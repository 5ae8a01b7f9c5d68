import Glibc
import SpaceSystem

/// The root in which a part works, named after the process that began it.
struct WorkRoot {
    let path: String
    private let folder: String
    private let name: String

    init(_ options: Options) {
        folder = options.folder
        name = "space-torture-\(getpid())"
        path = "\(folder)/\(name)"
    }

    func remove() throws {
        let folder = try OwnedDescriptor.open(folder, flags: O_RDONLY | O_DIRECTORY)
        try Directory.removeTree(at: folder.raw, name)
    }
}
