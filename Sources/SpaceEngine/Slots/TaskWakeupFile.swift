import Glibc
package import SpaceSystem
package import SystemPackage

/// The doorbells of a root: one word for each process whose tasks wait, because a thread can't sleep on the futexes of
/// five hundred namespaces at once (`futex_waitv(2)` takes 128).
///
/// Which doorbell is whose is told by the kernel: a process holds an OFD lock on the byte with its doorbell's number, so
/// the doorbell of a killed process is free again at once. Ringing one that nobody has any more is harmless.
package final class TaskWakeupFile: Sendable {
    private static let capacity = 4096
    private static let stride = 64
    package static let size = capacity * stride

    private let map: MappedFile
    private let file: OwnedDescriptor

    package init(_ file: consuming OwnedDescriptor) throws(Errno) {
        map = try MappedFile(descriptor: file.raw, length: Self.size)
        self.file = file
    }

    /// Whether it still has a name: if not, the root was removed, and others ring another.
    package var isLinked: Bool { ((try? FileInfo.of(file.raw))?.linkCount ?? 1) > 0 }

    /// Takes a doorbell for this process, for as long as it lives; `nil` when all are taken.
    package func acquire() throws(Errno) -> UInt32? {
        let start = Int(getpid()) % Self.capacity
        for offset in 0..<Self.capacity {
            let number = (start + offset) % Self.capacity
            if try FileLock.tryExclusive(file.raw, byte: number) { return UInt32(number) }
        }
        return nil
    }

    package func word(_ number: UInt32) -> SharedWord32 { SharedWord32(at: map.base + Int(number) * Self.stride) }
    /// Set while somebody sleeps on the word: ringing one who is awake costs no system call.
    package func isSleeping(_ number: UInt32) -> SharedWord32 {
        SharedWord32(at: map.base + Int(number) * Self.stride + 4)
    }

    package func ring(_ number: UInt32) {
        guard number < Self.capacity else { return }
        word(number).add(1)
        if isSleeping(number).loadSequential() != 0 { _ = Futex(at: word(number).address).wake() }
    }
}
