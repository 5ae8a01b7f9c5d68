import SpaceSystem
import SystemPackage

/// The parameters of a new responder.
struct ResponderRequest {
    let name: String
    let key: String
    let isBase: Bool
    let concurrency: Int

    init(_ name: String, _ key: String?, _ isBase: Bool, _ concurrency: Int) {
        self.name = name
        self.key = key ?? "\(TupleUUID.random())"
        self.isBase = isBase
        self.concurrency = concurrency
    }
}

/// A request as a handler's wrapper gets it.
struct RequestAtHand: Sendable {
    let namespace: Namespace
    let request: IncomingRequest
    let key: String

    private func value() throws(TupleCodingError) -> Value {
        try request.argument.withBytes { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) }
    }

    /// The argument as a handler's only one.
    func only<Argument: Decodable>() throws(ResponderFailure) -> Argument {
        do throws(TupleCodingError) { return try value().decode() } catch {
            throw ResponderFailure("the argument is no \(Argument.self): \(error)")
        }
    }

    /// The argument as any number of arguments: none takes any value, one is the value, several are an array.
    func arguments<each Argument: Decodable>() throws -> (repeat each Argument) {
        var count = 0
        for _ in repeat (each Argument).self { count += 1 }
        let values: [Value]
        switch (count, try value()) {
        case (0, _): values = []
        case (1, let value): values = [value]
        case (_, .array(let array)) where array.count == count: values = array
        case (_, .array(let array)):
            throw ResponderFailure("it takes \(count) arguments, and got \(array.count)")
        case (_, .null): throw ResponderFailure("it takes \(count) arguments, and got none")
        default: throw ResponderFailure("it takes \(count) arguments, and got one")
        }
        var index = 0
        return (repeat try argument(values, &index, (each Argument).self))
    }

    private func argument<Argument: Decodable>(
        _ values: [Value],
        _ index: inout Int,
        _ type: Argument.Type
    ) throws(ResponderFailure) -> Argument {
        defer { index += 1 }
        do throws(TupleCodingError) { return try values[index].decode() } catch {
            let which = values.count == 1 ? "the argument" : "argument \(index + 1)"
            throw ResponderFailure("\(which) is no \(Argument.self): \(error)")
        }
    }

    func next<Argument, Reply>() -> NextResponder<Argument, Reply> { NextResponder(namespace, request, key: key) }
}

extension WeakObject {
    /// The object; throws if it is gone, and the request then goes to the next responder.
    func living() throws(ResponderFailure) -> Object {
        guard let object = value else { throw ResponderFailure("the object that answers is gone") }
        return object
    }
}

extension Namespace {
    func register(
        _ responder: ResponderRequest,
        for subject: Observer.Subject? = nil,
        _ body: @escaping @Sendable (RequestAtHand) async throws -> Value
    ) throws(SpaceError) -> ResponderToken {
        // For an object, the namespace is not kept alive.
        let kept = subject == nil ? self : try attempt("respond") { (_) throws(SpaceError) in try nonOwningHandle() }
        let (name, key) = (responder.name, responder.key)
        try attempt("respond") { (_) throws(SpaceError) in
            do throws(Errno) {
                try TaskPool.begin()
            } catch {
                throw SpaceError(error, subject: "the threads that answer requests")
            }
        }
        let position = try enrolResponder(
            name,
            key: key,
            isBase: responder.isBase,
            concurrency: responder.concurrency
        )
        let local = LocalResponder(
            name: name,
            key: key,
            position: position,
            isBase: responder.isBase,
            concurrency: responder.concurrency,
            handle: WeakObject(self),
            namespace: kept,
            subject: subject
        ) { request in try await body(RequestAtHand(namespace: kept, request: request, key: key)) }
        core.responderHub.add(local, to: core)
        // Ticks notice the end of the object.
        if subject != nil { _ = EventLoop.attend(core) }
        return ResponderToken(local, core)
    }

    /// Registers a responder of this process.
    func enrolResponder(
        _ name: String,
        key: String,
        isBase: Bool,
        concurrency: Int = 1
    ) throws(SpaceError) -> ResponderPosition {
        try attempt("respond") { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            try Limits.check(objectName: key)
            guard concurrency > 0 else {
                throw .badNumber("it is to answer \(concurrency) requests side by side")
            }
            return try core.responders.enrol(name, key: key, isBase: isBase)
        }
    }
}
