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
        /// Reported unasked.
        package static let error = Events(rawValue: space_epoll_error)
        /// Reported unasked.
        package static let hangUp = Events(rawValue: space_epoll_hang_up)
        package static let edgeTriggered = Events(rawValue: space_epoll_edge)
        package static let oneShot = Events(rawValue: space_epoll_one_shot)
    }

    /// A descriptor, by the token that it was added with, and what can be done with it.
    package struct Ready: Hashable, Sendable {
        package let token: UInt64
        package let events: Events
    }

    package let descriptor: OwnedDescriptor

    package init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_epoll_open()))
    }

    /// Adds a descriptor, which must be removed before it is closed if the open file has other descriptors (epoll(7)).
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
    /// - Parameter timeout: the longest wait, rounded up to milliseconds; `nil` for none.
    /// - Returns: at most 64; none when the time passed, and sometimes earlier, when a signal came.
    /// - Throws: nothing but `ENOMEM` and the like.
    package func wait(timeout: Duration?) throws(Errno) -> [Ready] {
        // On the stack, and not cleared: this is on the way from a bell to whom it wakes.
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
