import SpaceSystem
import TupleCoding

// Reading and taking with templates. Each comes in four forms: at once (`…IfExists`), blocking its thread for a bounded time,
// async without a limit, and async with one. A wait that ends without a result has taken nothing.

extension Namespace {
    // MARK: At once

    /// The first tuple that matches; `nil` when there is none.
    ///
    /// It stays where it is.
    ///
    /// - Complexity: O(log n) where the template's shape has an index (takes earn one), else O(n) up to the first match.
    public func readIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Tuple? {
        try usableCore("read").readIfExists("read", template, order)?.tuple()
    }

    /// Takes the first tuple that matches; `nil` when there is none.
    ///
    /// - Complexity: O(log n) once the template's shape has earned an index, else O(n) up to the first match.
    public func takeIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Tuple? {
        try take(template, order) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// The one way in which a tuple is taken at once.
    ///
    /// One that does not decode stays.
    package func take<T>(
        _ template: Template,
        _ order: MatchOrder,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> T? {
        try usableCore("take").takeIfExists("take", template, order, decode: decode) {
            (scope, id, row) throws(SpaceError) in
            try scope.remove(id, row)
        }?.content
    }

    /// All tuples that match, of one snapshot.
    ///
    /// - Parameters:
    ///   - template: What to look for; unless given, everything.
    ///   - order: Which come first.
    ///   - max: How many at most.
    /// - Returns: Copies of the tuples, in order.
    /// - Throws: `namespaceDeleted`, `closed`, `forked`, `damaged`, `readersExhausted`, `holderStopped`, `holderBusy`.
    public func readAll(
        matching template: Template = .any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Tuple] {
        var tuples: [Tuple] = []
        for match in try matches(template, order: order, max: max) { tuples.append(try match.tuple()) }
        return tuples
    }

    /// Takes all tuples that match, in one transaction: no other process sees some of them taken and some not.
    ///
    /// What others take between the look and the transaction is left out, and what they write meanwhile.
    ///
    /// - Parameters:
    ///   - template: What to look for; unless given, everything.
    ///   - order: Which come first.
    ///   - max: How many at most.
    /// - Returns: The tuples that were taken, in order.
    /// - Throws: What ``readAll(matching:order:max:)`` does, and `transactionTooLarge`.
    public func takeAll(
        matching template: Template = .any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Tuple] {
        try usableCore("take").takeAll("take", template, order, max: max) { (match) throws(SpaceError) in
            try match.tuple()
        } _: { (scope, id, row) throws(SpaceError) in
            try scope.remove(id, row)
        }.map(\.content)
    }

    /// How many tuples match.
    ///
    /// - Complexity: O(1) for all tuples where none expires; O(log n + matches) with an index; else O(n).
    public func count(matching template: Template = .any) throws(SpaceError) -> Int {
        try usableCore("count").count(template)
    }

    package func matches(
        _ template: Template,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Match] {
        try usableCore("read").readAll("read", template, order, max: max)
    }

    // MARK: Blocking the thread

    /// Waits for a tuple that matches; `nil` when the time has passed.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - template: What to wait for.
    ///   - order: Which comes first, if several match.
    ///   - timeout: How long; zero looks once.
    /// - Returns: The tuple, which stays where it is; `nil` when the time has passed.
    /// - Throws: What ``readAll(matching:order:max:)`` does.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func read(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Tuple? {
        try readBlocking(template, order, timeout: timeout, interruption: nil)?.tuple()
    }

    /// Takes a tuple that matches as soon as there is one; `nil` when the time has passed.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - template: What to wait for.
    ///   - order: Which comes first, if several match.
    ///   - timeout: How long; zero looks once.
    /// - Returns: The tuple, which is gone for all others; `nil` when the time has passed, and then nothing was taken.
    /// - Throws: What ``readAll(matching:order:max:)`` does; nothing was taken then.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Tuple? {
        try takeBlocking(template, order, timeout: timeout) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func readBlocking(
        _ template: Template,
        _ order: MatchOrder,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Match? {
        let core = try usableCore("read")
        return try core.block(
            "read",
            Interest(template, isTaking: false),
            text: template.json,
            until: MonotonicInstant.deadline(after: timeout),
            interruption: interruption
        ) { () throws(SpaceError) in
            try core.readIfExists("read", template, order).map { Found(result: $0, removed: nil) }
        }
    }

    package func takeBlocking<T>(
        _ template: Template,
        _ order: MatchOrder,
        timeout: Duration,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> T? {
        let core = try usableCore("take")
        return try core.block(
            "take",
            Interest(template, isTaking: true),
            text: template.json,
            until: MonotonicInstant.deadline(after: timeout)
        ) { () throws(SpaceError) in
            try core.takeIfExists("take", template, order, decode: decode) { (scope, id, row) throws(SpaceError) in
                try scope.remove(id, row)
            }.map { Found(result: $0.content, removed: $0.id.rawValue) }
        }
    }

    // MARK: Suspending the task

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` when the task is.
    public func read(matching template: Template, order: MatchOrder = .oldestFirst) async throws(SpaceError) -> Tuple {
        try await readSuspending(template, order, timeout: nil).orEnded("read", name).tuple()
    }

    /// Waits for a tuple that matches; `nil` when the time has passed.
    ///
    /// - Throws: `cancelled` when the task is.
    public func read(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> Tuple? {
        try await readSuspending(template, order, timeout: timeout)?.tuple()
    }

    /// Takes a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` when the task is; nothing was taken then.
    public func take(matching template: Template, order: MatchOrder = .oldestFirst) async throws(SpaceError) -> Tuple {
        try await takeSuspending(template, order, timeout: nil) { (match) throws(SpaceError) in try match.tuple() }
            .orEnded("take", name)
    }

    /// Takes a tuple that matches as soon as there is one; `nil` when the time has passed.
    ///
    /// - Throws: `cancelled` when the task is; nothing was taken then.
    public func take(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> Tuple? {
        try await takeSuspending(template, order, timeout: timeout) { (match) throws(SpaceError) in try match.tuple() }
    }

    func readSuspending(_ template: Template, _ order: MatchOrder, timeout: Duration?) async throws(SpaceError)
        -> Match?
    {
        let core = try usableCore("read")
        return try await core.suspend(
            "read",
            Interest(template, isTaking: false),
            text: { template.json },
            until: MonotonicInstant.deadline(after: timeout)
        ) { () throws(SpaceError) in
            try core.readIfExists("read", template, order).map { Found(result: $0, removed: nil) }
        }
    }

    func takeSuspending<T>(
        _ template: Template,
        _ order: MatchOrder,
        timeout: Duration?,
        decode: (Match) throws(SpaceError) -> T
    ) async throws(SpaceError) -> T? {
        let core = try usableCore("take")
        return try await core.suspend(
            "take",
            Interest(template, isTaking: true),
            text: { template.json },
            until: MonotonicInstant.deadline(after: timeout)
        ) { () throws(SpaceError) in
            try core.takeIfExists("take", template, order, decode: decode) { (scope, id, row) throws(SpaceError) in
                try scope.remove(id, row)
            }.map { Found(result: $0.content, removed: $0.id.rawValue) }
        }
    }
}

extension Optional {
    /// What a wait without a limit came to: it has a result, or it threw.
    func orEnded(_ operation: String, _ namespace: String) throws(SpaceError) -> Wrapped {
        guard let self else {
            throw SpaceError(.cancelled, operation, namespace: namespace, reason: "the wait ended without a result")
        }
        return self
    }
}
