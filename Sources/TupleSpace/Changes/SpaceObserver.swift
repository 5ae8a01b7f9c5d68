import TupleCoding

/// An object that is notified that something has changed, and that reads the new state itself.
///
/// Suited to results that are computed anew from the whole: a view, a cache, an index.
public protocol SpaceObserver: AnyObject, Sendable {
    /// Something has changed in a namespace.
    ///
    /// Called in a task, one call at a time for each filter. If the class belongs to an actor, this method may belong to it
    /// too.
    ///
    /// - Parameters:
    ///   - namespace: The namespace's name.
    ///   - generation: The number of the last change: it rises from call to call. A burst of changes may come as one call.
    func spaceDidChange(_ namespace: String, generation: UInt64) async
}
