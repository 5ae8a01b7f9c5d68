import Glibc
package import SpaceSystem
package import SystemPackage

/// The task wake-up words of a root: one for each process with waiting tasks.
///
/// A process has one because a thread can't sleep on the futexes of five hundred namespaces at once (`futex_waitv(2)`
/// takes 128). The kernel shows which process has which word: the process holds an OFD lock on the byte with the word's
/// number. So a killed process's word is free again at once. Waking a word that no process has any more is harmless.
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

    /// Whether other processes use the same file and its words: not if the root was removed, or the file cut short.
    package var isShared: Bool {
        guard let info = try? FileInfo.of(file.raw) else { return true }
        map.note(size: info.size)
        return info.linkCount > 0 && !map.isCut
    }

    /// Takes a word for this process for the rest of its life and returns its number, or `nil` if all words are taken.
    package func acquire() throws(Errno) -> UInt32? {
        let start = Int(getpid()) % Self.capacity
        for offset in 0..<Self.capacity {
            let number = (start + offset) % Self.capacity
            if try FileLock.tryExclusive(file.raw, byte: number) { return UInt32(number) }
        }
        return nil
    }

    package func word(_ number: UInt32) -> SharedWord32 { SharedWord32(at: map.base + Int(number) * Self.stride) }
    /// Set while a thread sleeps on the word: if none does, waking it costs no system call.
    package func isSleeping(_ number: UInt32) -> SharedWord32 {
        SharedWord32(at: map.base + Int(number) * Self.stride + 4)
    }

    package func ring(_ number: UInt32) {
        guard number < Self.capacity else { return }
        word(number).add(1)
        if isSleeping(number).loadSequential() != 0 { _ = Futex(at: word(number).address).wake() }
    }
}
