// Responders: named behaviour that processes add to a namespace at run time.

extension Namespace {
    // MARK: Tokens

    /// Answers requests of a name, as long as the returned token lives.
    ///
    /// ```swift
    /// self.token = try jobs.respond(to: "resize", key: "plain") { (file: String, next) -> Int in
    ///     try await resize(file)
    /// }
    /// ```
    ///
    /// The newest responder answers. The handler's second argument calls the responder below, in any process, and says
    /// under which name and key the handler runs. The handler runs in a task, with the isolation it was declared with,
    /// so it may await and must not block. If the handler throws, the asking process gets `responderFailed` with the
    /// error's description. If the request is taken back, because its time has passed or the asking process has gone,
    /// the handler's task is cancelled. If this process dies, its responders leave the stack, and the requests that they
    /// have not answered go to the next responder; each responder is asked once at most.
    ///
    /// - Parameters:
    ///   - name: The name to answer to: 1 to 240 bytes, not used by any lock, collection or other shared object.
    ///   - key: The key by which any process can remove or replace this responder; `nil` stands for a new UUID. An
    ///     earlier responder with the same key leaves the stack.
    ///   - base: Whether this is a base handler: it is asked after all responders that are not base handlers, whatever
    ///     the order of registration.
    ///   - concurrency: How many requests the handler answers at the same time; further requests wait in order.
    ///   - handler: Called with the argument and the responders below; returns the reply.
    /// - Returns: A token; when it is released, the responder leaves the stack.
    /// - Throws: `typeMismatch` if another kind of object has the name; `invalidArgument`, `storageFull`,
    ///   `limitReached`, `holderStopped`, `holderBusy`.
    public func respond<Argument: Codable & Sendable, Reply: Codable & Sendable>(
        to name: String,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler:
            @escaping @isolated(any) @Sendable (Argument, NextResponder<Argument, Reply>) async throws -> Reply
    ) throws(SpaceError) -> ResponderToken {
        try register(ResponderRequest(name, key, base, concurrency)) { request in
            try Value(encoding: try await handler(try request.only(), request.next()))
        }
    }

    /// Answers requests of a name whose handler takes any number of arguments and calls no responder below.
    ///
    /// ```swift
    /// self.token = try jobs.respond(to: "add") { (a: Int, b: Int) in a + b }      // request("add", 1, 2)
    /// self.token = try jobs.respond(to: "version") { "1.0" }                      // request("version")
    /// self.token = try jobs.respond(to: "add", calculator.add)                    // a method
    /// ```
    ///
    /// No argument is carried as null, one argument as its value, and several as an array. A handler without parameters
    /// accepts any arguments. Otherwise this form does the same as the form with `next`.
    ///
    /// - Parameters:
    ///   - name: The name to answer to.
    ///   - key: The key, or `nil` for a new UUID.
    ///   - base: Whether this is a base handler.
    ///   - concurrency: How many requests the handler answers at the same time.
    ///   - handler: Called with the arguments; returns the reply.
    /// - Returns: A token; when it is released, the responder leaves the stack.
    /// - Throws: The same errors as the form with `next`.
    public func respond<each Argument: Codable & Sendable, Reply: Codable & Sendable>(
        to name: String,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler: @escaping @isolated(any) @Sendable (repeat each Argument) async throws -> Reply
    ) throws(SpaceError) -> ResponderToken {
        try register(ResponderRequest(name, key, base, concurrency)) { request in
            let arguments: (repeat each Argument) = try request.arguments()
            return try Value(encoding: try await handler(repeat each arguments))
        }
    }

    /// Answers requests of a name whose handler returns nothing: the reply is null.
    ///
    /// ```swift
    /// self.token = try jobs.respond(to: "sayHello") { print("hello") }            // try await request("sayHello")
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name to answer to.
    ///   - key: The key, or `nil` for a new UUID.
    ///   - base: Whether this is a base handler.
    ///   - concurrency: How many requests the handler answers at the same time.
    ///   - handler: Called with the arguments.
    /// - Returns: A token; when it is released, the responder leaves the stack.
    /// - Throws: The same errors as the form with `next`.
    public func respond<each Argument: Codable & Sendable>(
        to name: String,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler: @escaping @isolated(any) @Sendable (repeat each Argument) async throws -> Void
    ) throws(SpaceError) -> ResponderToken {
        try register(ResponderRequest(name, key, base, concurrency)) { request in
            let arguments: (repeat each Argument) = try request.arguments()
            try await handler(repeat each arguments)
            return .null
        }
    }

    // MARK: Objects

    /// Answers requests of a name as long as an object lives.
    ///
    /// ```swift
    /// try jobs.respond(to: "resize", for: self) { (me, file: String, next) -> Int in try await me.resize(file) }
    /// ```
    ///
    /// The responder keeps neither the object nor the namespace alive: the handler gets the object as an argument and
    /// need not capture it. The responder ends with the object, the process or the namespace, and when the handle is
    /// left. Swift on Linux does not report the end of an object, so the library notices it at the next request or tick
    /// (250 ms); a request that comes in between goes to the next responder.
    ///
    /// - Parameters:
    ///   - name: The name to answer to.
    ///   - object: The object that the responder belongs to; it is kept alive only while a request is answered.
    ///   - key: The key, or `nil` for a new UUID.
    ///   - base: Whether this is a base handler.
    ///   - concurrency: How many requests the handler answers at the same time.
    ///   - handler: Called with the object, the argument and the responders below; returns the reply.
    /// - Returns: A token that need not be kept, to end this responder alone.
    /// - Throws: The same errors as the form with a token.
    @discardableResult
    public func respond<Object: AnyObject & Sendable, Argument: Codable & Sendable, Reply: Codable & Sendable>(
        to name: String,
        for object: Object,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler:
            @escaping @isolated(any) @Sendable (Object, Argument, NextResponder<Argument, Reply>) async throws -> Reply
    ) throws(SpaceError) -> ResponderToken {
        let object = WeakObject(object)
        return try register(ResponderRequest(name, key, base, concurrency), for: Observer.Subject(object)) { request in
            try Value(encoding: try await handler(try object.living(), try request.only(), request.next()))
        }
    }

    /// Answers requests of a name as long as an object lives, with a handler that calls no responder below.
    ///
    /// ```swift
    /// try jobs.respond(to: "add", for: self) { me, a, b in me.add(a, b) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name to answer to.
    ///   - object: The object that the responder belongs to.
    ///   - key: The key, or `nil` for a new UUID.
    ///   - base: Whether this is a base handler.
    ///   - concurrency: How many requests the handler answers at the same time.
    ///   - handler: Called with the object and the arguments; returns the reply.
    /// - Returns: A token that need not be kept, to end this responder alone.
    /// - Throws: The same errors as the form with a token.
    @discardableResult
    public func respond<Object: AnyObject & Sendable, each Argument: Codable & Sendable, Reply: Codable & Sendable>(
        to name: String,
        for object: Object,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler: @escaping @isolated(any) @Sendable (Object, repeat each Argument) async throws -> Reply
    ) throws(SpaceError) -> ResponderToken {
        let object = WeakObject(object)
        return try register(ResponderRequest(name, key, base, concurrency), for: Observer.Subject(object)) { request in
            let arguments: (repeat each Argument) = try request.arguments()
            return try Value(encoding: try await handler(try object.living(), repeat each arguments))
        }
    }

    /// Answers requests of a name as long as an object lives, with a handler that returns nothing: the reply is null.
    ///
    /// - Parameters:
    ///   - name: The name to answer to.
    ///   - object: The object that the responder belongs to.
    ///   - key: The key, or `nil` for a new UUID.
    ///   - base: Whether this is a base handler.
    ///   - concurrency: How many requests the handler answers at the same time.
    ///   - handler: Called with the object and the arguments.
    /// - Returns: A token that need not be kept, to end this responder alone.
    /// - Throws: The same errors as the form with a token.
    @discardableResult
    public func respond<Object: AnyObject & Sendable, each Argument: Codable & Sendable>(
        to name: String,
        for object: Object,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler: @escaping @isolated(any) @Sendable (Object, repeat each Argument) async throws -> Void
    ) throws(SpaceError) -> ResponderToken {
        let object = WeakObject(object)
        return try register(ResponderRequest(name, key, base, concurrency), for: Observer.Subject(object)) { request in
            let arguments: (repeat each Argument) = try request.arguments()
            try await handler(try object.living(), repeat each arguments)
            return .null
        }
    }

    /// Takes all responders that were registered with this handle off their stacks.
    public func stopResponding() { core.responderHub.end(handle: ObjectIdentifier(self), of: core) }
}
