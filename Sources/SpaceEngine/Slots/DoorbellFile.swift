import Glibc
import SpaceSystem
import SystemPackage

/// The doorbells of a root: one word for each process whose tasks wait, because a thread can't sleep on the futexes of
/// five hundred namespaces at once (`futex_waitv(2)` takes 128).
///
/// Which doorbell is whose is told by the kernel: a process holds an OFD lock on the byte with its doorbell's number, so
/// the doorbell of a killed process is free again at once. Ringing one that nobody has any more is harmless.
final class DoorbellFile: Sendable {
    private static let capacity = 4096
    private static let stride = 64
    private static let size = capacity * stride

    private let map: MappedFile
    private let file: OwnedDescriptor

    private init(_ file: consuming OwnedDescriptor) throws(Errno) {
        map = try MappedFile(descriptor: file.raw, length: Self.size)
        self.file = file
    }

    static func open(in root: SpaceRoot, create: Bool) throws(SpaceError) -> DoorbellFile {
        let operation = "wait"
        guard let folder = try root.open(create: create, for: operation) else {
            throw SpaceError(
                .namespaceNotFound,
                operation,
                reason: "the root \(root.path.quotedForPeople) does not exist"
            )
        }
        let path = "\(root.path)/\(SpaceRoot.doorbells)"
        let info = try system(operation, root.path) { () throws(Errno) in try FileInfo.of(folder.raw) }
        let mode = info.mode & 0o660
        let file: OwnedDescriptor
        do throws(TrustedFolder.Refusal) {
            let flags = O_RDWR | (create ? O_CREAT : 0)
            file = try TrustedFolder(folder.raw, info).open(SpaceRoot.doorbells, flags: flags, mode: mode)
        } catch {
            throw SpaceError(error, operation, subject: path.quotedForPeople)
        }
        return try Self.use(file, create: create, mode, operation, path)
    }

    private static func use(
        _ file: consuming OwnedDescriptor,
        create: Bool,
        _ mode: UInt32,
        _ operation: String,
        _ path: String
    ) throws(SpaceError) -> DoorbellFile {
        let raw = file.raw
        try system(operation, path) { () throws(Errno) in
            // Reserved before it is mapped by anybody: a hole on a full disk would be a SIGBUS. fallocate(2) also lengthens.
            if try FileInfo.of(raw).size < Self.size {
                guard create else { throw .noSuchFileOrDirectory }
            }
            if create {
                // Whatever the umask says. Only its maker may; for the others it is as it should be.
                try? Directory.setMode(raw, mode)
                try Blocks.reserve(raw, from: 0, to: Self.size, keepSize: false)
            }
        }
        do throws(Errno) {
            return try DoorbellFile(file)
        } catch {
            throw SpaceError(error, operation, subject: path)
        }
    }

    /// Whether it still has a name: if not, the root was removed, and others ring another.
    var isLinked: Bool { ((try? FileInfo.of(file.raw))?.linkCount ?? 1) > 0 }

    /// Takes a doorbell for this process, for as long as it lives; `nil` when all are taken.
    func acquire() throws(Errno) -> UInt32? {
        let start = Int(getpid()) % Self.capacity
        for offset in 0..<Self.capacity {
            let number = (start + offset) % Self.capacity
            if try FileLock.tryExclusive(file.raw, byte: number) { return UInt32(number) }
        }
        return nil
    }

    func word(_ number: UInt32) -> SharedWord32 { SharedWord32(at: map.base + Int(number) * Self.stride) }
    /// Set while somebody sleeps on the word: ringing one who is awake costs no system call.
    func isSleeping(_ number: UInt32) -> SharedWord32 { SharedWord32(at: map.base + Int(number) * Self.stride + 4) }

    func ring(_ number: UInt32) {
        guard number < Self.capacity else { return }
        word(number).add(1)
        if isSleeping(number).loadSequential() != 0 { _ = Futex(at: word(number).address).wake() }
    }
}
