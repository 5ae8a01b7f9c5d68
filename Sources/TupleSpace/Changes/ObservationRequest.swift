import TupleCoding

/// What an observation is to be.
struct ObservationRequest {
    var filter: ChangeFilter
    var options: ObservationOptions = [.old, .new]
    var subject: Observer.Subject?
    var handler: ObserverHandler
    var onError: ObservationErrorHandler?
}
