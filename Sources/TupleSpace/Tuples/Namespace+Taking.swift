import SpaceSystem
public import TupleCoding

// Taking: the tuple is gone for all others. A tuple that does not decode stays in the namespace, and a wait that throws
// has taken nothing. `Namespace+Finding` describes the forms.

extension Namespace {
    // MARK: Templates

    /// Takes the first tuple that matches; `nil` if none does.
    ///
    /// - Complexity: O(log n) once the template's shape has earned an index, else O(n) up to the first match.
    public func takeIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Tuple? {
        try take(template, order, .none) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - template: What to wait for.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: The tuple, which is gone for all others; `nil` if the time-out passes first.
    /// - Throws: What ``readAll(matching:order:max:)`` throws. Without a result nothing was taken.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Tuple? {
        try take(template, order, .waiting(timeout)) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// Takes a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func take(matching template: Template, order: MatchOrder = .oldestFirst) async throws(SpaceError) -> Tuple {
        try await suspend(isTaking: true, template, order, timeout: nil) { (match) throws(SpaceError) in
            try match.tuple()
        }
        .orEnded()
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func take(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> Tuple? {
        try await suspend(isTaking: true, template, order, timeout: timeout) { (match) throws(SpaceError) in
            try match.tuple()
        }
    }

    // MARK: Matchers

    /// Takes the first tuple that matches, as typed fields; `nil` if none does.
    ///
    /// ```swift
    /// if let (_, id, file) = try jobs.takeIfExists("resize", any(Int.self), any(String.self)) { … }
    /// ```
    ///
    /// - Throws: What ``readIfExists(_:order:)`` throws; then nothing was taken.
    @inlinable
    public func takeIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(isTaking: true, order, within: nil, repeat each matcher)
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: The fields, typed as the matchers say; `nil` if the time-out passes first.
    /// - Throws: What ``readAll(matching:order:max:)`` throws. Without a result nothing was taken.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(isTaking: true, order, within: timeout, repeat each matcher)
    }

    /// Takes a tuple that matches as soon as there is one.
    ///
    /// ```swift
    /// let (_, id, file) = try await jobs.take("resize", any(Int.self), any(String.self))
    /// ```
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    @inlinable
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await find(isTaking: true, order, awaiting: nil, repeat each matcher).orEnded()
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    @inlinable
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        try await find(isTaking: true, order, awaiting: timeout, repeat each matcher)
    }

    // MARK: Records

    /// Takes the first record that matches, decoded; `nil` if none does.
    public func takeIfExists<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) throws(SpaceError) -> Content? {
        try take(template, .oldestFirst, .none) { (match) throws(SpaceError) in try match.tuple().content(type) }
    }

    /// Takes a record that matches as soon as there is one, decoded.
    public func take<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) async throws(SpaceError) -> Content {
        try await suspend(isTaking: true, template, .oldestFirst, timeout: nil) { (match) throws(SpaceError) in
            try match.tuple().content(type)
        }.orEnded()
    }

    // MARK: All at once

    /// Takes all tuples that match, in one transaction: no other process ever sees only some of them taken.
    ///
    /// The take first looks on a snapshot, and then removes in a transaction. It leaves out tuples that other processes
    /// take in between, and also those that they write in between.
    ///
    /// - Parameters:
    ///   - template: What to look for; the default matches all tuples.
    ///   - order: Which tuples come first.
    ///   - max: The largest number of tuples to take.
    /// - Returns: The tuples that were taken, in order.
    /// - Throws: What ``readAll(matching:order:max:)`` throws, and `transactionTooLarge`.
    public func takeAll(
        matching template: Template = .any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Tuple] {
        try attempt("take") { (core) throws(SpaceError) in
            try core.takeAll(template, order, max: max).map(\.content)
        }
    }
}
