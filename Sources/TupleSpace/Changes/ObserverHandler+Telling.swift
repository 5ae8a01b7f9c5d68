// Handlers that receive something other than the plain change: the result of `tell`, and no call if that is `nil`.

extension ObserverHandler {
    package typealias Teller<Told> = @Sendable (Change) throws -> Told?

    package init<Told: Sendable>(
        _ tell: @escaping Teller<Told>,
        _ handler: @escaping @isolated(any) @Sendable (Told) throws -> Void,
        on queue: ObservationQueue?
    ) {
        guard handler.isolation == nil else {
            self = .task { change, mayCall in
                guard let told = try tell(change) else { return }
                try await Self.call(handler.isolation, mayCall) { try await handler(told) }
            }
            return
        }
        // As for the handlers of plain changes: a function without isolation is an ordinary function (SE-0431).
        let plain = unsafeBitCast(handler, to: (@Sendable (Told) throws -> Void).self)
        self.init({ change in if let told = try tell(change) { try plain(told) } }, on: queue)
    }

    package init<Told: Sendable>(
        _ tell: @escaping Teller<Told>,
        _ handler: @escaping @isolated(any) @Sendable (Told) async throws -> Void
    ) {
        self = .task { change, mayCall in
            guard let told = try tell(change) else { return }
            try await Self.call(handler.isolation, mayCall) { try await handler(told) }
        }
    }

    package init<Object: AnyObject & Sendable, Told: Sendable>(
        _ object: WeakObject<Object>,
        _ tell: @escaping Teller<Told>,
        _ handler: @escaping @isolated(any) @Sendable (Object, Told) throws -> Void,
        on queue: ObservationQueue?
    ) {
        guard handler.isolation == nil else {
            self = .task { change, mayCall in
                guard let told = try tell(change) else { return }
                try await Self.call(handler.isolation, mayCall) {
                    if let object = object.value { try await handler(object, told) }
                }
            }
            return
        }
        let plain = unsafeBitCast(handler, to: (@Sendable (Object, Told) throws -> Void).self)
        self.init(
            { change in if let told = try tell(change), let object = object.value { try plain(object, told) } },
            on: queue
        )
    }
}
