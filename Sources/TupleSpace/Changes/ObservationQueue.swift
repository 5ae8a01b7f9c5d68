import TupleCoding

/// A queue of your choice, on which the handler of an observation is called.
///
/// ```swift
/// let queue = DispatchQueue(label: "progress")
/// token = try jobs.observe("progress", on: ObservationQueue { queue.async(execute: $0) }) { change in … }
/// ```
///
/// Any queue, event loop or thread will do if it runs the closures that it is given. The library depends on none of
/// them.
public struct ObservationQueue: Sendable {
    let enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Makes a queue from a closure that enqueues its argument; the closure must not wait until the argument has run.
    public init(_ enqueue: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
        self.enqueue = enqueue
    }
}
