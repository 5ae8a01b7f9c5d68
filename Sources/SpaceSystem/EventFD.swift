import CSpaceShims
package import SystemPackage

/// A counter with a descriptor (eventfd(2)), by which one thread wakes another out of `Epoll.wait`.
package struct EventFD: ~Copyable, Sendable {
    package let descriptor: OwnedDescriptor

    package init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_eventfd_open()))
    }

    /// For poll and epoll: readable from `signal()` to `drain()`.
    package var raw: CInt { descriptor.raw }

    /// Adds one; any thread may, and signals that nobody has drained yet add up.
    package func signal() throws(Errno) {
        var one: UInt64 = 1
        let result = space_write(raw, &one, 8)
        // eventfd(2): EAGAIN when the counter would overflow; then it is readable anyway.
        if Errno(rawValue: CInt(truncatingIfNeeded: -result)) == .resourceTemporarilyUnavailable { return }
        _ = try checked(count: result)
    }

    /// Takes the counter back to 0 without waiting.
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
