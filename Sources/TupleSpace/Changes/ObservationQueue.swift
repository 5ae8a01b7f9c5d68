/// A queue of your choice, on which the handler of an observation is called: it enqueues the closure that it is given,
/// and does not wait for the closure to run.
///
/// ```swift
/// let queue = DispatchQueue(label: "progress")
/// token = try jobs.observe("progress", on: { queue.async(execute: $0) }) { change in … }
/// ```
///
/// Any queue, event loop or thread will do if it runs the closures that it is given. The library depends on none of
/// them.
public typealias ObservationQueue = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
