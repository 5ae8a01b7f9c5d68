import CSpaceShims
package import SystemPackage

/// A counter with a descriptor (eventfd(2)), by which one thread wakes another that is in `Epoll.wait`.
package struct EventFD: ~Copyable, Sendable {
    package let descriptor: OwnedDescriptor

    package init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_eventfd_open()))
    }

    /// The descriptor for poll and epoll: readable from `signal()` until `drain()`.
    package var raw: CInt { descriptor.raw }

    /// Adds one to the counter; any thread may call this, and the counter sums the signals until `drain()`.
    package func signal() throws(Errno) {
        var one: UInt64 = 1
        let result = space_write(raw, &one, 8)
        // eventfd(2): EAGAIN if the counter would overflow; the descriptor is readable then anyway.
        if Errno(rawValue: CInt(truncatingIfNeeded: -result)) == .resourceTemporarilyUnavailable { return }
        _ = try checked(count: result)
    }

    /// Resets the counter to 0 without waiting.
    ///
    /// - Returns: how many signals there were.
    @discardableResult
    package func drain() throws(Errno) -> UInt64 {
        var count: UInt64 = 0
        let result = space_read(raw, &count, 8)
        if Errno(rawValue: CInt(truncatingIfNeeded: -result)) == .resourceTemporarilyUnavailable { return 0 }
        _ = try checked(count: result)
        return count
    }
}
