import TupleCoding

/// Where the handler of an observation is called: on a queue of your choice.
///
/// ```swift
/// let queue = DispatchQueue(label: "progress")
/// token = try jobs.observe("progress", on: ObservationQueue { queue.async(execute: $0) }) { change in … }
/// ```
///
/// Any queue, event loop or thread will do that runs what it is given, in its own time; the library needs to know none of them.
public struct ObservationQueue: Sendable {
    let enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Makes a queue of a closure that enqueues what it is given; it must not wait for it to be run.
    public init(_ enqueue: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
        self.enqueue = enqueue
    }
}
