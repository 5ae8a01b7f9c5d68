import SpaceSystem
import TupleCoding

// Typed forms: the template is the argument list, and the result's types follow from it.
//
//     let (_, id, file) = try await jobs.take("resize", any(Int.self), any(String.self))

extension Namespace {
    /// The first tuple that matches, as typed fields; `nil` when there is none.
    ///
    /// It stays where it is.
    public func readIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        guard let match = try usableCore("read").readIfExists("read", Template(repeat each matcher), order) else {
            return nil
        }
        let fields = try match.fields(repeat each matcher)
        return fields
    }

    /// Takes the first tuple that matches, as typed fields; `nil` when there is none.
    ///
    /// ```swift
    /// if let (_, id, file) = try jobs.takeIfExists("resize", any(Int.self), any(String.self)) { … }
    /// ```
    public func takeIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try take(Template(repeat each matcher), order) { (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
    }

    /// Waits for a tuple that matches; `nil` when the time has passed.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which comes first, if several match.
    ///   - timeout: How long; zero looks once.
    /// - Returns: The fields, typed as the matchers say; `nil` when the time has passed.
    /// - Throws: What ``readAll(matching:order:max:)`` does.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        let template = Template(repeat each matcher)
        let core = try usableCore("read")
        let match = try core.block(
            "read",
            Interest(template, isTaking: false),
            text: template.json,
            until: MonotonicInstant.deadline(after: timeout)
        ) { () throws(SpaceError) in
            try core.readIfExists("read", template, order).map { Found(result: $0, removed: nil) }
        }
        guard let match else { return nil }
        let fields = try match.fields(repeat each matcher)
        return fields
    }

    /// Takes a tuple that matches as soon as there is one; `nil` when the time has passed.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which comes first, if several match.
    ///   - timeout: How long; zero looks once.
    /// - Returns: The fields, typed as the matchers say; `nil` when the time has passed, and then nothing was taken.
    /// - Throws: What ``readAll(matching:order:max:)`` does; nothing was taken then.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try takeBlocking(Template(repeat each matcher), order, timeout: timeout) { (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
    }

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` when the task is.
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        let match = try await readSuspending(Template(repeat each matcher), order, timeout: nil)
        return try match.orEnded("read", name).fields(repeat each matcher)
    }

    /// Waits for a tuple that matches; `nil` when the time has passed.
    ///
    /// - Throws: `cancelled` when the task is.
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        guard let match = try await readSuspending(Template(repeat each matcher), order, timeout: timeout) else {
            return nil
        }
        let fields = try match.fields(repeat each matcher)
        return fields
    }

    /// Takes a tuple that matches as soon as there is one.
    ///
    /// ```swift
    /// let (_, id, file) = try await jobs.take("resize", any(Int.self), any(String.self))
    /// ```
    ///
    /// - Throws: `cancelled` when the task is; nothing was taken then.
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        let fields = try await takeSuspending(Template(repeat each matcher), order, timeout: nil) {
            (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
        return try fields.orEnded("take", name)
    }

    /// Takes a tuple that matches as soon as there is one; `nil` when the time has passed.
    ///
    /// - Throws: `cancelled` when the task is; nothing was taken then.
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        try await takeSuspending(Template(repeat each matcher), order, timeout: timeout) { (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
    }

    // MARK: Records

    /// Takes a record that matches, decoded; `nil` when there is none.
    public func takeIfExists<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) throws(SpaceError) -> Content? {
        try take(template, .oldestFirst) { (match) throws(SpaceError) in try match.tuple().content(type, "take", name) }
    }

    /// The first record that matches, decoded; `nil` when there is none.
    public func readIfExists<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) throws(SpaceError) -> Content? {
        try readIfExists(matching: template).map { (tuple) throws(SpaceError) in try tuple.content(type, "read", name) }
    }

    /// Takes a record that matches as soon as there is one, decoded.
    public func take<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) async throws(SpaceError) -> Content {
        try await takeSuspending(template, .oldestFirst, timeout: nil) { (match) throws(SpaceError) in
            try match.tuple().content(type, "take", name)
        }.orEnded("take", name)
    }

    /// Waits for a record that matches, decoded.
    public func read<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) async throws(SpaceError) -> Content {
        try await read(matching: template).content(type, "read", name)
    }
}

extension Match {
    /// The fields, typed as the matchers say.
    func fields<each M: Matcher>(_ matcher: repeat each M) throws(SpaceError) -> (repeat (each M).Matched) {
        do throws(TupleCodingError) {
            // Not through a closure: a pack result of one is beyond the compiler's inference.
            let copy = bytes
            let start = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, copy.count), alignment: 1)
            defer { start.deallocate() }
            start.copyBytes(from: copy)
            var decoder = TupleDecoder(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start)[..<copy.count]))
            return try decoder.decodeMatched(repeat each matcher)
        } catch {
            throw SpaceError(error, "decode a tuple")
        }
    }
}

extension Tuple {
    func content<Content: Decodable>(
        _ type: Content.Type,
        _ operation: String,
        _ namespace: String
    ) throws(SpaceError) -> Content {
        do throws(TupleCodingError) {
            guard let record else {
                return try TupleCoding.Value.array(fields).decode(type)
            }
            return try record.decode(type)
        } catch {
            throw SpaceError(error, operation, namespace: namespace)
        }
    }
}
