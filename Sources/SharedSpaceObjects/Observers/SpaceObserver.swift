/// An object that is notified that something has changed, and that reads the new state itself.
///
/// It suits results that are computed again from the whole state: a view, a cache, an index. The method is called in a
/// task, one call at a time for each filter. If the class belongs to an actor, the method may belong to it too. A burst
/// of changes may come as one call. For an object that needs only the namespace's name, ``BriefSpaceObserver`` has a
/// shorter method.
public protocol SpaceObserver: AnyObject, Sendable {
    /// Something has changed in a namespace.
    ///
    /// - Parameters:
    ///   - namespace: The namespace, by a handle that does not keep it alive; ``Namespace/root`` and
    ///     ``Namespace/name`` say which one it is.
    ///   - filter: The filter that the object was added with.
    ///   - keys: The keys of the cells, and the names of the notifications and collections, that have changed; `nil` if
    ///     changes were missed, so that any may have changed.
    ///   - generation: The number of the last change: it rises from call to call.
    func spaceDidChange(_ namespace: Namespace, for filter: ChangeFilter, keys: Set<String>?, generation: UInt64) async
}

/// A ``SpaceObserver`` that is told the namespace's name alone.
public protocol BriefSpaceObserver: SpaceObserver {
    /// Something has changed in a namespace.
    ///
    /// - Parameters:
    ///   - namespace: The namespace's name.
    ///   - generation: The number of the last change.
    func spaceDidChange(_ namespace: String, generation: UInt64) async
}

extension BriefSpaceObserver {
    /// Calls the short form.
    public func spaceDidChange(
        _ namespace: Namespace,
        for filter: ChangeFilter,
        keys: Set<String>?,
        generation: UInt64
    ) async {
        await spaceDidChange(namespace.name, generation: generation)
    }
}
