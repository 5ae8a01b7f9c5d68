import SpaceSystem
import TupleCoding

extension Namespace {
    /// Adds an observer of a collection that lasts as long as the token.
    func token<Source>(
        toldBy teller: CollectionFeed<Source>,
        _ handler: ObserverHandler,
        _ onError: ObservationErrorHandler?
    ) throws(SpaceError) -> ObservationToken {
        ObservationToken(try add(toldBy: teller, nil, handler, onError), core)
    }

    /// Adds an observer of a collection; throws `closed` if the collection has been removed.
    func add<Source>(
        toldBy teller: CollectionFeed<Source>,
        _ subject: Observer.Subject?,
        keeping kept: Namespace? = nil,
        _ handler: ObserverHandler,
        _ onError: ObservationErrorHandler?
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
