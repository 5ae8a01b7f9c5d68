import SpaceSystem
public import TupleCoding

// Reading: the tuple stays in the namespace. `Namespace+Finding` describes the forms.

extension Namespace {
    // MARK: Templates

    /// Reads the first tuple that matches; `nil` if none does.
    ///
    /// - Complexity: O(log n) if the template's shape has an index (takes earn one), else O(n) up to the first match.
    public func readIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Tuple? {
        try read(template, order, .none) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - template: What to wait for.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: The tuple, which stays in the namespace; `nil` if the time-out passes first.
    /// - Throws: What ``readAll(matching:order:max:)`` throws.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func read(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Tuple? {
        try read(template, order, .waiting(timeout)) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    public func read(matching template: Template, order: MatchOrder = .oldestFirst) async throws(SpaceError) -> Tuple {
        try await suspend(isTaking: false, template, order, timeout: nil) { (match) throws(SpaceError) in
            try match.tuple()
        }
        .orEnded()
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    public func read(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> Tuple? {
        try await suspend(isTaking: false, template, order, timeout: timeout) { (match) throws(SpaceError) in
            try match.tuple()
        }
    }

    // MARK: Matchers

    /// Reads the first tuple that matches, as typed fields; `nil` if none does.
    ///
    /// - Throws: `badData` if an actual is nested deeper than ``TupleLimits/maximumDepth``, and what
    ///   ``readAll(matching:order:max:)`` throws.
    @inlinable
    public func readIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(isTaking: false, order, within: nil, repeat each matcher)
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
        try find(isTaking: false, order, within: timeout, repeat each matcher)
    }

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    @inlinable
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await find(isTaking: false, order, awaiting: nil, repeat each matcher).orEnded()
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    @inlinable
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        try await find(isTaking: false, order, awaiting: timeout, repeat each matcher)
    }

    // MARK: Records

    /// Reads the first record that matches, decoded; `nil` if none does.
    public func readIfExists<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) throws(SpaceError) -> Content? {
        try read(template, .oldestFirst, .none) { (match) throws(SpaceError) in try match.tuple().content(type) }
    }

    /// Waits for a record that matches, decoded.
    public func read<Content: Decodable>(
        _ type: Content.Type,
        matching template: Template
    ) async throws(SpaceError) -> Content {
        try await suspend(isTaking: false, template, .oldestFirst, timeout: nil) { (match) throws(SpaceError) in
            try match.tuple().content(type)
        }.orEnded()
    }

    // MARK: All at once

    /// All tuples that match, of one snapshot.
    ///
    /// - Parameters:
    ///   - template: What to look for; the default matches all tuples.
    ///   - order: Which tuples come first.
    ///   - max: The largest number of tuples to read.
    /// - Returns: Copies of the tuples, in order.
    /// - Throws: `namespaceDeleted`, `closed`, `forked`, `damaged`, `readersExhausted`, `holderStopped`, `holderBusy`.
    public func readAll(
        matching template: Template = .any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Tuple] {
        try attempt("read") { (core) throws(SpaceError) in
            try core.readAll(template, order, max: max).tuples()
        }
    }

    package func matches(
        _ template: Template,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Match] {
        try attempt("read") { (core) throws(SpaceError) in try core.readAll(template, order, max: max) }
    }

    /// The number of tuples that match.
    ///
    /// - Complexity: O(1) for the template that matches all tuples if no tuple expires; O(log n + matches) with an
    ///   index; else O(n).
    public func count(matching template: Template = .any) throws(SpaceError) -> Int {
        try attempt("count") { (core) throws(SpaceError) in try core.count(template) }
    }
}
