package import SpaceSystem
import Synchronization

/// A folder or a file whose changes a thread waits for.
///
/// The kernel's notes are hints: its instances may be used up, and the path may get another folder. So a wait also ends
/// at each tick of the event loop: once a second, or every 250 ms if the kernel does not report the changes.
package final class PathWatch: Sendable {
    private let signal: PathSignal
    private let path: String
    private let changes: INotify.Mask
    private let watch: Mutex<Int32?>

    /// - Parameters:
    ///   - path: The path of the folder or file.
    ///   - changes: The changes to be told of.
    ///   - hear: Called on the event loop's thread with each change, tick, and end of a followed process.
    package init(
        _ path: String,
        _ changes: INotify.Mask = PathSignals.mask,
        hear: (@Sendable (PathSignal.Cause) -> Void)? = nil
    ) {
        (self.path, self.changes) = (path, changes)
        signal = PathSignal(hear)
        watch = Mutex(EventLoop.shared.begin(signal, path: path, changes))
    }

    deinit { EventLoop.end(signal, watch: watch.withLock { $0 }) }

    /// Whether the kernel reports the changes.
    package var isHeard: Bool {
        watch.withLock { $0 }.map { EventLoop.isHeard(signal, watch: $0) } ?? false
    }

    /// Has the kernel report the changes of what is at the path now: another folder or file may have got it.
    package func renew() {
        watch.withLock { $0 = EventLoop.shared.renew(signal, watch: $0, path: path, changes) }
    }

    /// How often something may have changed; read before the look that comes before a wait.
    package var count: UInt32 { signal.count }

    /// Blocks the thread until there may be a change since a count, a moment has come, or the interruption comes.
    package func wait(since count: UInt32, until end: MonotonicInstant, interruption: Interruption? = nil) {
        EventLoop.shared.block(for: signal, since: count, until: end, interruption: interruption)
    }

    /// Ends the waits.
    package func ring() { EventLoop.shared.ring(signal) }

    /// Hears the end of a process, too, if it has not ended yet.
    func follow(_ process: ProcessIdentity) { EventLoop.shared.follow(process, for: signal) }
}
