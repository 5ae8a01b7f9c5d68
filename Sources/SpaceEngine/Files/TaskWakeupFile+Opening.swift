import Glibc
import SpaceSystem
import SystemPackage

extension TaskWakeupFile {
    package static func open(in root: SpaceRoot, create: Bool) throws(SpaceError) -> TaskWakeupFile {
        guard let folder = try root.open(create: create) else { throw .noRoot(root) }
        let path = "\(root.path)/\(SpaceRoot.taskWords)"
        let info = try system(root.path) { () throws(Errno) in try FileInfo.of(folder.raw) }
        let mode = info.mode & 0o660
        let file: OwnedDescriptor
        do throws(TrustedFolder.Refusal) {
            let flags = O_RDWR | (create ? O_CREAT : 0)
            file = try TrustedFolder(folder.raw, info).open(SpaceRoot.taskWords, flags: flags, mode: mode)
        } catch .system(let errno) {
            throw SpaceError(errno, subject: path.quotedForPeople)
        } catch {
            throw SpaceError(error, subject: path.quotedForPeople)
        }
        return try Self.use(file, create: create, mode, path)
    }

    private static func use(
        _ file: consuming OwnedDescriptor,
        create: Bool,
        _ mode: UInt32,
        _ path: String
    ) throws(SpaceError) -> TaskWakeupFile {
        let raw = file.raw
        try system(path) { () throws(Errno) in
            // The blocks are reserved before any process maps the file: a hole on a full disk would raise SIGBUS.
            // fallocate(2) also lengthens the file.
            if try FileInfo.of(raw).size < Self.size {
                guard create else { throw .noSuchFileOrDirectory }
            }
            if create {
                // Sets the mode regardless of the umask. Only the file's maker may set it; for other processes it is
                // already right.
                try? Directory.setMode(raw, mode)
                try Blocks.reserve(raw, from: 0, to: Self.size, keepSize: false)
            }
        }
        do throws(Errno) {
            return try TaskWakeupFile(file)
        } catch {
            throw SpaceError(error, subject: path)
        }
    }
}
