package import ClusterStore
import Glibc
import SpaceSystem
import Synchronization
package import SystemPackage

/// Messages over a pair of descriptors: a Unix socket, or a child's standard input and output.
///
/// One thread per channel reads, and sends what the other side could not take at once; it never waits for anything but
/// its descriptors. Any thread sends, without waiting: what does not fit into the kernel's buffer stays in the channel,
/// up to a limit. The channel owns its descriptors and makes them non-blocking, so no other process may share them.
package final class MessageChannel: Sendable {
    /// What the channel's thread calls.
    package struct Handlers: Sendable {
        /// Called for each message in order; an error ends the channel.
        let received: @Sendable (WireMessage) throws(WireError) -> Void
        /// Called after each wake-up; returns the moment at which it wants to be called again.
        let tick: @Sendable () -> MonotonicInstant?
        /// Called once, as the channel's last act, with the reason of its end.
        let ended: @Sendable (String) -> Void
    }

    private struct State: ~Copyable {
        var unsent: [UInt8] = []
        /// How many bytes of `unsent` are sent.
        var sent = 0
        /// The reason, once the channel ends.
        var end: String?
        var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let input: CInt
    private let output: CInt
    private let wakeUp: EventFD
    private let maximumUnsent: Int

    /// Takes over the descriptors, which may be the same one; until ``start(_:)`` returns, the caller closes them.
    ///
    /// - Parameters:
    ///   - input: Where the other side's messages are read.
    ///   - output: Where messages to the other side are written.
    ///   - maximumUnsent: How many bytes wait for the other side before ``send(_:)`` refuses more.
    /// - Throws: The system's error if the descriptors can't be used without blocking.
    package init(input: CInt, output: CInt, maximumUnsent: Int = 64 << 20) throws(Errno) {
        self.input = input
        self.output = output
        self.maximumUnsent = maximumUnsent
        wakeUp = try EventFD()
        for descriptor in [input, output] {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) >= 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Starts the thread; the first message that either side sends is its ``WireHello``.
    package func start(_ handlers: Handlers) throws(Errno) {
        _ = send(WireHello.message)
        try DetachedThread.start { self.run(handlers) }
    }

    // MARK: Sending

    /// Sends a message, or keeps it until the other side takes it.
    ///
    /// - Returns: `nil`, or the reason why the message is not sent and never will be.
    package func send(_ message: WireMessage) -> String? {
        let frames = message.frames
        let (refusal, isPending) = state.withLock { state -> (String?, Bool) in
            if let end = state.end { return (end, false) }
            let waiting = state.unsent.count - state.sent
            guard waiting + frames.count <= maximumUnsent || waiting == 0 else {
                return ("the other side takes nothing: \(waiting) bytes wait for it", false)
            }
            state.unsent += frames
            if waiting == 0 { flush(&state) }
            return (nil, state.sent < state.unsent.count)
        }
        if isPending { try? wakeUp.signal() }
        return refusal
    }

    /// Waits until little waits to be sent, or until the channel ends.
    package func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state -> Bool in
                if state.end != nil || state.unsent.count - state.sent < WireMessage.part { return true }
                state.waitingForRoom.append(continuation)
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// Ends the channel; its thread closes the descriptors.
    package func close(_ reason: String) {
        let isNew = state.withLock { state -> Bool in
            guard state.end == nil else { return false }
            state.end = reason
            return true
        }
        if isNew { try? wakeUp.signal() }
    }

    /// Wakes the thread, so that it asks for the next moment of ``Handlers/tick``.
    func wake() { try? wakeUp.signal() }

    private func flush(_ state: inout State) {
        while state.sent < state.unsent.count {
            let count = state.unsent.withUnsafeBytes { bytes in
                Self.write(output, UnsafeRawBufferPointer(rebasing: bytes[state.sent...]))
            }
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                if count < 0, errno != EAGAIN { state.end = state.end ?? "the other side has ended" }
                break
            }
            state.sent += count
        }
        if state.sent == state.unsent.count {
            state.unsent.removeAll(keepingCapacity: state.unsent.count <= WireMessage.part)
            state.sent = 0
        } else if state.sent > WireMessage.part {
            state.unsent.removeFirst(state.sent)
            state.sent = 0
        }
    }

    /// Writes without the signal that ends a process whose reader is gone.
    private static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        let sent = Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        guard sent < 0, errno == ENOTSOCK else { return sent }
        // A pipe has no such flag: the signal is blocked on this thread, and taken away if it came.
        var pipe = sigset_t()
        var old = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &old)
        let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        let error = errno
        if count < 0, error == EPIPE, sigismember(&old, SIGPIPE) == 0 {
            var noTime = timespec()
            _ = sigtimedwait(&pipe, nil, &noTime)
        }
        pthread_sigmask(SIG_SETMASK, &old, nil)
        errno = error
        return count
    }

    // MARK: The thread

    private func run(_ handlers: Handlers) {
        let reason = loop(handlers)
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.end = state.end ?? reason
            state.unsent = []
            state.sent = 0
            defer { state.waitingForRoom = [] }
            return state.waitingForRoom
        }
        // Under the lock no thread writes any more, as `end` is set.
        _ = Glibc.close(input)
        if output != input { _ = Glibc.close(output) }
        for continuation in waiting { continuation.resume() }
        handlers.ended(reason)
    }

    private func loop(_ handlers: Handlers) -> String {
        var assembler = WireAssembler()
        var isGreeted = false
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let next = handlers.tick()
            let (end, isPending, waiting) = state.withLock {
                state -> (String?, Bool, [CheckedContinuation<Void, Never>]) in
                let unsent = state.unsent.count - state.sent
                guard unsent < WireMessage.part else { return (state.end, true, []) }
                defer { state.waitingForRoom = [] }
                return (state.end, unsent > 0, state.waitingForRoom)
            }
            for continuation in waiting { continuation.resume() }
            if let end { return end }
            var ready = [
                pollfd(fd: wakeUp.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: input, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isPending ? output : -1, events: Int16(POLLOUT), revents: 0),
            ]
            let limit = next.map { $0.remaining.pollMilliseconds } ?? -1
            guard poll(&ready, 3, limit) >= 0 || errno == EINTR else { return "poll failed: \(Errno(rawValue: errno))" }
            if ready[0].revents != 0 { _ = try? wakeUp.drain() }
            if ready[2].revents != 0 { state.withLock { flush(&$0) } }
            guard ready[1].revents != 0 else { continue }
            let count = read(input, buffer.baseAddress, buffer.count)
            guard count > 0 else {
                if count < 0, errno == EAGAIN || errno == EINTR { continue }
                // unix(7): ECONNRESET if the other side has ended with bytes unread.
                return count == 0 || errno == ECONNRESET
                    ? "the other side has ended" : "reading failed: \(Errno(rawValue: errno))"
            }
            do throws(WireError) {
                assembler.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                while let message = try assembler.next() {
                    if isGreeted { try handlers.received(message) } else { try WireHello.check(message) }
                    isGreeted = true
                }
            } catch {
                return "the other side sends what does not decode: \(error)"
            }
        }
    }
}
