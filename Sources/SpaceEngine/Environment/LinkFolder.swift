import Glibc
import SpaceSystem
import SystemPackage

/// A folder of this process alone, for links to open files.
///
/// When this value ends, the folder is removed.
struct LinkFolder: ~Copyable {
    private let parent: OwnedDescriptor
    private let name: String
    private let descriptor: OwnedDescriptor

    init(root: SpaceRoot) throws(SpaceError) {
        guard let rootFolder = try root.open(create: false) else {
            throw SpaceError.noRoot(root)
        }
        let name = try Nursery.newName(try .current())
        let parent = try root.ownFolder(SpaceRoot.nursery, in: rootFolder)
        let raw = parent.raw
        descriptor = try system("a folder in the nursery") { () throws(Errno) in
            try Directory.makeDirectory(at: raw, name, mode: 0o700)
        }
        self.name = name
        self.parent = parent
    }

    deinit {
        // The folder is emptied through its descriptor, because another folder may have been put under its name.
        for name in [NamespaceFolder.data, NamespaceFolder.lock] { unlinkat(descriptor.raw, name, 0) }
        unlinkat(parent.raw, name, AT_REMOVEDIR)
    }

    var path: String { descriptor.procPath }

    func link(_ name: String, to file: CInt) throws(SpaceError) {
        let (target, folder) = (OwnedDescriptor.procPath(of: file), descriptor.raw)
        try system("a folder in the nursery") { () throws(Errno) in
            guard symlinkat(target, folder, name) == 0 else { throw Errno(rawValue: errno) }
        }
    }
}
