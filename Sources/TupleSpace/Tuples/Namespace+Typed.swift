import SpaceSystem
public import TupleCoding

// Typed forms: the template is the argument list, and the result's types follow from it.
//
//     let (_, id, file) = try await jobs.take("resize", any(Int.self), any(String.self))
//
// The forms that don't await are inlined into their callers, down to the bytes: the caller knows the types. Without
// inlining, each call would look up the types of its pack at run time, which costs as much as the transaction.

extension Namespace {
    /// Reads the first tuple that matches, as typed fields; `nil` if none does.
    ///
    /// The tuple stays in the namespace.
    ///
    /// - Throws: `badData` if an actual is nested deeper than ``TupleLimits/maximumDepth``, and what
    ///   ``readAll(matching:order:max:)`` throws.
    @inlinable
    public func readIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(to: .read, try template("read", repeat each matcher), order, within: nil) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// Takes the first tuple that matches, as typed fields; `nil` if none does.
    ///
    /// ```swift
    /// if let (_, id, file) = try jobs.takeIfExists("resize", any(Int.self), any(String.self)) { … }
    /// ```
    @inlinable
    public func takeIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(to: .take, try template("take", repeat each matcher), order, within: nil) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: The fields, typed as the matchers say; `nil` if the time-out passes first.
    /// - Throws: What ``readAll(matching:order:max:)`` throws.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(to: .read, try template("read", repeat each matcher), order, within: timeout) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: The fields, typed as the matchers say; `nil` if the time-out passes first, and then nothing was
    ///   taken.
    /// - Throws: What ``readAll(matching:order:max:)`` throws; then nothing was taken.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(to: .take, try template("take", repeat each matcher), order, within: timeout) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        let match = try await readSuspending(try template("read", repeat each matcher), order, timeout: nil)
        return try match.orEnded("read", name).fields(repeat each matcher)
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        guard let match = try await readSuspending(try template("read", repeat each matcher), order, timeout: timeout)
        else {
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
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        let fields = try await takeSuspending(try template("take", repeat each matcher), order, timeout: nil) {
            (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
        return try fields.orEnded("take", name)
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        try await takeSuspending(try template("take", repeat each matcher), order, timeout: timeout) {
            (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
    }

    // MARK: Called by the inlined functions

    /// The template that matchers make.
    ///
    /// Throws `badData` if an actual is nested too deep.
    @inlinable
    package func template<each M: Matcher>(_ operation: String, _ matcher: repeat each M) throws(SpaceError) -> Template
    {
        do throws(TupleCodingError) {
            return try Template(checking: repeat each matcher)
        } catch {
            throw refusal(error, operation)
        }
    }

    @usableFromInline
    func refusal(_ error: TupleCodingError, _ operation: String) -> SpaceError {
        SpaceError(error, operation, namespace: name)
    }

    /// Whether a match is read or taken.
    @usableFromInline
    package enum Purpose { case read, take }

    /// Finds a match, and decodes its fields in the caller, which knows their types.
    ///
    /// `timeout` says how long the thread may block; `nil` looks once, without waiting.
    @inlinable
    package func find<Fields>(
        to purpose: Purpose,
        _ template: Template,
        _ order: MatchOrder,
        within timeout: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> Fields? {
        var fields: Fields?
        let isFound = try carryOut(purpose, template, order, within: timeout) {
            (decoder) throws(TupleCodingError) in
            fields = try decode(&decoder)
        }
        return isFound ? fields : nil
    }

    /// Reads or takes, without generics; the result says whether there was a match.
    ///
    /// The last call of `decode` is for the tuple that was read or taken. There may be earlier calls, for tuples that
    /// other processes took first.
    @usableFromInline
    func carryOut(
        _ purpose: Purpose,
        _ template: Template,
        _ order: MatchOrder,
        within timeout: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Void
    ) throws(SpaceError) -> Bool {
        switch (purpose, timeout) {
        case (.read, let timeout):
            let match =
                if let timeout {
                    try readBlocking(template, order, timeout: timeout, interruption: nil)
                } else {
                    try usableCore("read").readIfExists("read", template, order)
                }
            try match?.decode(decode)
            return match != nil
        case (.take, let timeout?):
            return try takeBlocking(template, order, timeout: timeout) { (match) throws(SpaceError) in
                try match.decode(decode)
            } != nil
        case (.take, nil):
            return try take(template, order) { (match) throws(SpaceError) in try match.decode(decode) } != nil
        }
    }

    // MARK: Records

    /// Takes the first record that matches, decoded; `nil` if none does.
    public func takeIfExists<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) throws(SpaceError) -> Content? {
        try take(template, .oldestFirst) { (match) throws(SpaceError) in try match.tuple().content(type, "take", name) }
    }

    /// Reads the first record that matches, decoded; `nil` if none does.
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
    /// The fields, as `body` decodes them.
    package func decode<Fields>(
        _ body: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> Fields {
        do throws(TupleCodingError) {
            return try bytes.withBytes { (bytes) throws(TupleCodingError) in
                var decoder = TupleDecoder(bytes)
                return try body(&decoder)
            }
        } catch {
            throw SpaceError(error, "decode a tuple")
        }
    }

    /// The fields, typed as the matchers say.
    package func fields<each M: Matcher>(_ matcher: repeat each M) throws(SpaceError) -> (repeat (each M).Matched) {
        try decode { (decoder) throws(TupleCodingError) in try decoder.decodeMatched(repeat each matcher) }
    }
}

extension Tuple {
    package func content<Content: Decodable>(
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
