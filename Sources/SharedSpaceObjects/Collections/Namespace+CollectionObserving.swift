extension Namespace {
    /// Adds an observer of a collection that lasts as long as the token.
    func token<Source>(
        toldBy teller: CollectionFeed<Source>,
        _ handler: ObserverHandler,
        _ onError: (@Sendable (any Error) -> Void)?
    ) throws(SpaceError) -> ObservationToken {
        ObservationToken(try add(toldBy: teller, nil, handler, onError), core)
    }

    /// Observes a collection for an object; the observation does not keep the namespace alive.
    ///
    /// `feed` makes the feed, which reads in the namespace that it is given.
    func token<Object: AnyObject & Sendable, Source>(
        for object: Object,
        _ onError: (@Sendable (any Error) -> Void)?,
        toldBy feed: (Namespace) throws(SpaceError) -> CollectionFeed<Source>,
        _ handler: (WeakObject<Object>, CollectionFeed<Source>) -> ObserverHandler
    ) throws(SpaceError) -> ObservationToken {
        let object = WeakObject(object)
        let kept = try attempt("observe") { (_) throws(SpaceError) in try nonOwningHandle() }
        let teller = try feed(kept)
        let subject = Observer.Subject(object)
        return ObservationToken(
            try add(toldBy: teller, subject, keeping: kept, handler(object, teller), onError),
            core
        )
    }

    /// Adds an observer of a collection; throws `closed` if the collection has been removed.
    func add<Source>(
        toldBy teller: CollectionFeed<Source>,
        _ subject: Observer.Subject?,
        keeping kept: Namespace? = nil,
        _ handler: ObserverHandler,
        _ onError: (@Sendable (any Error) -> Void)?
    ) throws(SpaceError) -> Observer {
        let request = ObservationRequest(
            filter: .collection(teller.name),
            options: teller.tellsInitial ? [.initial, .old, .new] : [.old, .new],
            subject: subject,
            handler: handler,
            onError: onError
        )
        // This comes after the registration: if the collection is removed later, a change says so.
        return try attempt("observe") { (core) throws(SpaceError) in
            try core.observations.add(request, handle: self, keeping: kept) { () throws(SpaceError) in
                try teller.begin()
            }
        }
    }
}
