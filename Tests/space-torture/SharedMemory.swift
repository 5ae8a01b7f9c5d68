import Glibc
import SpaceSystem

/// Memory of all processes that are forked after it was made, which outlives each of them.
///
/// Unchecked Sendable: it is only accessed by atomic operations.
struct SharedMemory: @unchecked Sendable {
    let base: UnsafeMutableRawPointer

    init(size: Int) throws {
        let flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE
        guard let base = mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            throw UsageError(text: "mmap: errno \(errno)")
        }
        self.base = base
    }

    func word32(_ offset: Int) -> SharedWord32 {
        SharedWord32(at: (base + offset).assumingMemoryBound(to: UInt32.self))
    }

    func word64(_ offset: Int) -> SharedWord64 {
        SharedWord64(at: (base + offset).assumingMemoryBound(to: UInt64.self))
    }
}
