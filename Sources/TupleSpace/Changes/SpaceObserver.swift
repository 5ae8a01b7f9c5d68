import TupleCoding

/// An object that is told that something has changed, and looks for itself what.
///
/// For what is computed anew from the whole: a view, a cache, an index.
public protocol SpaceObserver: AnyObject, Sendable {
    /// Something has changed in a namespace.
    ///
    /// Called in a task, once at a time for each filter; a class that belongs to an actor may belong there with this method too.
    ///
    /// - Parameters:
    ///   - namespace: The namespace's name.
    ///   - generation: The number of the last change: it rises from call to call. A burst of changes may come as one call.
    func spaceDidChange(_ namespace: String, generation: UInt64) async
}
