import SpaceSystem
public import TupleCoding

// Reading: the tuple stays in the namespace.

extension Namespace {
    // MARK: Selections

    /// Reads the first tuple that matches; `nil` if none does.
    ///
    /// - Throws: `badData` if the tuple is not what the selection makes of it, and what ``readAll(matching:order:max:)`` throws.
    /// - Complexity: O(log n) if the template's shape has an index (takes earn one), else O(n) up to the first match.
    @inlinable
    public func readIfExists<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Content? {
        try find(isTaking: false, selection.form, order, .none, selection.decode)
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - selection: What to wait for.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: What the selection makes of the tuple, which stays in the namespace; `nil` if the time-out passes first.
    /// - Throws: What ``readIfExists(matching:order:)`` throws.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func read<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Content? {
        try find(isTaking: false, selection.form, order, .upTo(timeout), selection.decode)
    }

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    @inlinable
    public func read<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> Content {
        try await find(isTaking: false, selection.form, order, awaiting: .forever, selection.decode).orEnded()
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    @inlinable
    public func read<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> Content? {
        try await find(isTaking: false, selection.form, order, awaiting: .upTo(timeout), selection.decode)
    }

    /// Reads a tuple as soon as there is one, with a wait that blocks the thread, and that the interruption ends early.
    package func readBlocking(
        matching template: Template,
        _ order: MatchOrder,
        _ wait: Wait,
        interruption: Interruption?
    ) throws(SpaceError) -> Tuple? {
        try attempt(Verb.read.rawValue) { (core) throws(SpaceError) in
            try core.looking.find(template.form, isTaking: false, wait, interruption: interruption) {
                (_) throws(SpaceError) in
                try core.looking.lookToRead(template.form, order) { (match) throws(SpaceError) in
                    try match.decode(template.decode)
                }
            }
        }
    }

    // MARK: Fields

    /// Reads the first tuple that matches, as typed fields; `nil` if none does.
    ///
    /// - Throws: `badData` if an actual is nested deeper than 64 levels, and what
    ///   ``readIfExists(matching:order:)`` throws.
    @inlinable
    public func readIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try withTemplate(for: .read, repeat each matcher) { (template) throws(SpaceError) in
            try find(isTaking: false, template, order, .none) { (decoder) throws(TupleCodingError) in
                try decoder.decodeMatched(repeat each matcher)
            }
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
        try withTemplate(for: .read, repeat each matcher) { (template) throws(SpaceError) in
            try find(isTaking: false, template, order, .upTo(timeout)) { (decoder) throws(TupleCodingError) in
                try decoder.decodeMatched(repeat each matcher)
            }
        }
    }

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    @inlinable
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        let template = try template(for: .read, repeat each matcher)
        return try await find(isTaking: false, template, order, awaiting: .forever) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }.orEnded()
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
        let template = try template(for: .read, repeat each matcher)
        return try await find(isTaking: false, template, order, awaiting: .upTo(timeout)) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    // MARK: All at once

    /// All tuples that match, of one snapshot.
    ///
    /// - Parameters:
    ///   - selection: What to look for; the default matches all tuples.
    ///   - order: Which tuples come first.
    ///   - max: The largest number of tuples to read.
    /// - Returns: What the selection makes of the tuples, in order.
    /// - Throws: `badData` if one of them is not what the selection makes of it; `namespaceDeleted`, `closed`, `forked`,
    ///   `damaged`, `readersExhausted`, `holderStopped`, `holderBusy`.
    public func readAll<Content>(
        matching selection: Selection<Content> = Template.any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Content] {
        try attempt(Verb.read.rawValue) { (core) throws(SpaceError) in
            try core.looking.readAll(selection.form, order, max: max).contents(selection.decode)
        }
    }

    package func matches(
        _ template: Template,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Match] {
        try attempt(Verb.read.rawValue) { (core) throws(SpaceError) in
            try core.looking.readAll(template.form, order, max: max)
        }
    }

    /// The number of tuples that match.
    ///
    /// - Complexity: O(1) for the template that matches all tuples if no tuple expires; O(log n + matches) with an
    ///   index; else O(n).
    public func count<Content>(matching selection: Selection<Content> = Template.any) throws(SpaceError) -> Int {
        try attempt("count") { (core) throws(SpaceError) in try core.looking.count(selection.form) }
    }
}
