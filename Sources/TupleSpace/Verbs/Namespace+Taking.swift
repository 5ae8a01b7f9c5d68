import SpaceSystem
public import TupleCoding

// Taking: the tuple is gone for all others. A tuple that does not decode stays in the namespace, and a wait that throws
// has taken nothing.

extension Namespace {
    // MARK: Selections

    /// Takes the first tuple that matches; `nil` if none does.
    ///
    /// - Throws: `badData` if the tuple is not what the selection makes of it, and what ``readAll(matching:order:max:)`` throws;
    ///   then nothing was taken.
    /// - Complexity: O(log n) once the template's shape has earned an index, else O(n) up to the first match.
    @inlinable
    public func takeIfExists<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Content? {
        try find(isTaking: true, selection.form, order, .none, selection.decode)
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - selection: What to take.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: What the selection makes of the tuple, which is gone for all others; `nil` if the time-out passes first.
    /// - Throws: What ``readIfExists(matching:order:)`` throws. Without a result nothing was taken.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Content? {
        try find(isTaking: true, selection.form, order, .upTo(timeout), selection.decode)
    }

    /// Takes a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    @inlinable
    public func take<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst
    ) async throws(SpaceError) -> Content {
        try await find(isTaking: true, selection.form, order, awaiting: .forever, selection.decode).orEnded()
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    @inlinable
    public func take<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> Content? {
        try await find(isTaking: true, selection.form, order, awaiting: .upTo(timeout), selection.decode)
    }

    // MARK: Fields

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
        try withTemplate(for: .take, repeat each matcher) { (template) throws(SpaceError) in
            try find(isTaking: true, template, order, .none) { (decoder) throws(TupleCodingError) in
                try decoder.decodeMatched(repeat each matcher)
            }
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
    /// - Returns: The fields, typed as the matchers say; `nil` if the time-out passes first.
    /// - Throws: What ``readAll(matching:order:max:)`` throws. Without a result nothing was taken.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try withTemplate(for: .take, repeat each matcher) { (template) throws(SpaceError) in
            try find(isTaking: true, template, order, .upTo(timeout)) { (decoder) throws(TupleCodingError) in
                try decoder.decodeMatched(repeat each matcher)
            }
        }
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
        let template = try template(for: .take, repeat each matcher)
        return try await find(isTaking: true, template, order, awaiting: .forever) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }.orEnded()
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
        let template = try template(for: .take, repeat each matcher)
        return try await find(isTaking: true, template, order, awaiting: .upTo(timeout)) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    // MARK: All at once

    /// Takes all tuples that match, in one transaction: no other process ever sees only some of them taken.
    ///
    /// The take first looks on a snapshot, and then removes in a transaction. It leaves out tuples that other processes
    /// take or write in between.
    ///
    /// - Parameters:
    ///   - selection: What to look for; the default matches all tuples.
    ///   - order: Which tuples come first.
    ///   - max: The largest number of tuples to take.
    /// - Returns: What the selection makes of the tuples that were taken, in order.
    /// - Throws: What ``readAll(matching:order:max:)`` throws, and `transactionTooLarge`; then nothing was taken.
    public func takeAll<Content>(
        matching selection: Selection<Content> = Template.any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Content] {
        try attempt(Verb.take.rawValue) { (core) throws(SpaceError) in
            try core.looking.takeAll(selection, order, max: max).map(\.content)
        }
    }

    /// Waits for a tuple that matches, and takes it with all others that match, up to a number, in one transaction.
    ///
    /// - Parameters:
    ///   - selection: What to look for; the default matches all tuples.
    ///   - order: Which tuples come first.
    ///   - max: The largest number of tuples to take, from 1.
    ///   - timeout: How long to wait for the first; zero looks once, `nil` waits without a limit.
    /// - Returns: What the selection makes of the tuples that were taken, in order; none if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func takeAll<Content>(
        matching selection: Selection<Content> = Template.any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max,
        timeout: Duration?
    ) async throws(SpaceError) -> [Content] {
        try await attempt(suspending: Verb.take.rawValue) { (core) async throws(SpaceError) in
            let first = FirstLook(Wait(timeout: timeout))
            return try await core.looking.suspend(for: selection.form, isTaking: true, after: first) {
                (aim) throws(SpaceError) in
                aim.only == nil ? try core.looking.lookToTakeAll(selection, order, max: max) : nil
            } ?? []
        }
    }
}

extension Looking {
    fileprivate func takeAll<Content>(
        _ selection: Selection<Content>,
        _ order: MatchOrder,
        max: Int
    ) throws(SpaceError) -> [Taken<Content, Void>] {
        try removeAll(selection.form, order, max: max, by: { Take($0) }) { (match) throws(SpaceError) in
            try match.decode(selection.decode)
        }
    }

    fileprivate func lookToTakeAll<Content>(
        _ selection: Selection<Content>,
        _ order: MatchOrder,
        max: Int
    ) throws(SpaceError) -> Found<[Content]>? {
        guard max > 0 else { throw .badNumber("\(max) is no number of tuples", advice: "give a number from 1") }
        let taken = try takeAll(selection, order, max: max)
        guard let first = taken.first else { return nil }
        return Found(result: taken.map(\.content), removed: first.id.rawValue)
    }
}
