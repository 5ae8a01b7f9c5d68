/// The parameters of a new observation.
package struct ObservationRequest {
    package var filter: ChangeFilter
    package var options: ObservationOptions = [.old, .new]
    package var subject: Observer.Subject?
    package var handler: ObserverHandler
    package var onError: (@Sendable (any Error) -> Void)?

    package init(
        filter: ChangeFilter,
        options: ObservationOptions = [.old, .new],
        subject: Observer.Subject? = nil,
        handler: ObserverHandler,
        onError: (@Sendable (any Error) -> Void)? = nil
    ) {
        self.filter = filter
        self.options = options
        self.subject = subject
        self.handler = handler
        self.onError = onError
    }
}
