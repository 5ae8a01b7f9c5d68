// Coarse observers: objects that are notified that something has changed.

extension Namespace {
    /// Notifies an object, from now on, that something has changed: see ``SpaceObserver``.
    ///
    /// Changes that happen during a call lead to one further call. Neither the object nor the namespace is kept alive.
    /// If the object is added again with the same filter, nothing changes for it: the new registration replaces the
    /// earlier one. Objects are compared by identity, never by equality.
    ///
    /// - Parameters:
    ///   - observer: The object to notify; it may observe any number of namespaces and cells.
    ///   - filter: The changes that concern it.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func addObserver<Object: SpaceObserver>(_ observer: Object, for filter: ChangeFilter = .everything)
        throws(SpaceError)
    {
        let object = WeakObject(observer)
        let kept = try attempt("observe") { (_) throws(SpaceError) in try nonOwningHandle() }
        let request = ObservationRequest(
            filter: filter,
            options: [],
            subject: Observer.Subject(object),
            handler: .coarse { changes, mayCall in
                guard let object = object.value, let last = changes.last, mayCall() else { return }
                let isMissing = changes.contains { $0.kind == .gap }
                let keys = isMissing ? nil : Set(changes.compactMap(\.key))
                await object.spaceDidChange(kept, for: filter, keys: keys, generation: last.lastSequence)
            }
        )
        let added = try add(request, keeping: kept)
        // Ends only older ones: if two threads add the same object at once, the younger observation stays.
        core.observations.end(core) { other in
            other.isCoarse && other.subject?.id == object.id && other.filter.text.isSame(as: filter.text)
                && other.id < added.id
        }
    }

    /// Undoes ``addObserver(_:for:)``, for one filter or for all; observations of other objects stay.
    public func removeObserver(_ observer: some SpaceObserver, for filter: ChangeFilter? = nil) {
        let id = ObjectIdentifier(observer)
        let text = filter?.text
        core.observations.end(core) { other in
            other.isCoarse && other.subject?.id == id && !other.isGone
                && (text.map { $0.isSame(as: other.filter.text) } ?? true)
        }
    }
}
