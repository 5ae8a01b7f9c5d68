import CSpaceShims
package import SystemPackage

/// Waiting for several descriptors at once (epoll(7)).
package struct Epoll: ~Copyable, Sendable {
    package struct Events: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        package static let readable = Events(rawValue: space_epoll_readable)
        package static let writable = Events(rawValue: space_epoll_writable)
        /// Always reported, even if not requested.
        package static let error = Events(rawValue: space_epoll_error)
        /// Always reported, even if not requested.
        package static let hangUp = Events(rawValue: space_epoll_hang_up)
        package static let edgeTriggered = Events(rawValue: space_epoll_edge)
    }

    /// The token of a descriptor, and the events that are ready on it.
    package struct Ready: Hashable, Sendable {
        package let token: UInt64
        package let events: Events
    }

    package let descriptor: OwnedDescriptor

    package init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_epoll_open()))
    }

    /// Adds a descriptor.
    ///
    /// If the open file has other descriptors, the descriptor must be removed before it is closed (epoll(7)).
    package func add(_ descriptor: CInt, _ events: Events, token: UInt64) throws(Errno) {
        try checked(space_epoll_add(self.descriptor.raw, descriptor, events.rawValue, token))
    }

    package func modify(_ descriptor: CInt, _ events: Events, token: UInt64) throws(Errno) {
        try checked(space_epoll_modify(self.descriptor.raw, descriptor, events.rawValue, token))
    }

    package func remove(_ descriptor: CInt) throws(Errno) {
        try checked(space_epoll_remove(self.descriptor.raw, descriptor))
    }

    /// Waits until a descriptor is ready.
    ///
    /// - Parameter timeout: the longest wait, rounded up to milliseconds, or `nil` to wait indefinitely.
    /// - Returns: at most 64 descriptors; none if the time passed, or if a signal ended the wait earlier.
    /// - Throws: only errors such as `ENOMEM`.
    package func wait(timeout: Duration?) throws(Errno) -> [Ready] {
        // The buffers are on the stack and not cleared: a watcher that the change signal wakes waits for this code.
        let (result, ready) = withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.capacity) { tokens in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.capacity) { events in
                guard let token = tokens.baseAddress, let event = events.baseAddress else {
                    return (CInt(0), [Ready]())
                }
                let result = space_epoll_wait(
                    descriptor.raw,
                    token,
                    event,
                    CInt(Self.capacity),
                    timeout?.pollMilliseconds ?? -1
                )
                return (
                    result,
                    (0..<max(0, Int(result))).map { Ready(token: token[$0], events: Events(rawValue: event[$0])) }
                )
            }
        }
        if Errno(rawValue: -result) == .interrupted { return [] }
        try checked(result)
        return ready
    }

    private static let capacity = 64
}
