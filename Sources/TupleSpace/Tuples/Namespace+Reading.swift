import SpaceSystem
import TupleCoding

// Reading and taking with templates. Each operation has four forms: at once (`…IfExists`), blocking the thread with a
// time-out, async without a time-out, and async with one. A wait that ends without a result has taken nothing.

extension Namespace {
    // MARK: At once

    /// Reads the first tuple that matches; `nil` if none does.
    ///
    /// The tuple stays in the namespace.
    ///
    /// - Complexity: O(log n) if the template's shape has an index (takes earn one), else O(n) up to the first match.
    public func readIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Tuple? {
        try usableCore("read").readIfExists("read", template, order)?.tuple()
    }

    /// Takes the first tuple that matches; `nil` if none does.
    ///
    /// - Complexity: O(log n) once the template's shape has earned an index, else O(n) up to the first match.
    public func takeIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Tuple? {
        try take(template, order) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// Takes a tuple at once; all takes that don't wait come through here.
    ///
    /// A tuple that does not decode stays in the namespace.
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
        var tuples: [Tuple] = []
        for match in try matches(template, order: order, max: max) { tuples.append(try match.tuple()) }
        return tuples
    }

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
        try usableCore("take").takeAll("take", template, order, max: max) { (match) throws(SpaceError) in
            try match.tuple()
        } _: { (scope, id, row) throws(SpaceError) in
            try scope.remove(id, row)
        }.map(\.content)
    }

    /// The number of tuples that match.
    ///
    /// - Complexity: O(1) for the template that matches all tuples if no tuple expires; O(log n + matches) with an
    ///   index; else O(n).
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
        try readBlocking(template, order, timeout: timeout, interruption: nil)?.tuple()
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - template: What to wait for.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: The tuple, which is gone for all others; `nil` if the time-out passes first, and then nothing was
    ///   taken.
    /// - Throws: What ``readAll(matching:order:max:)`` throws; then nothing was taken.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Tuple? {
        try takeBlocking(template, order, timeout: timeout) { (match) throws(SpaceError) in try match.tuple() }
    }

    /// Reads with a wait that blocks the thread; if `timeout` is `nil`, only the interruption ends the wait early.
    package func readBlocking(
        _ template: Template,
        _ order: MatchOrder,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Match? {
        let core = try usableCore("read")
        return try core.block("read", for: template, isTaking: false, timeout: timeout, interruption: interruption) {
            () throws(SpaceError) in
            try core.lookToRead(template, order)
        }
    }

    package func takeBlocking<T>(
        _ template: Template,
        _ order: MatchOrder,
        timeout: Duration,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> T? {
        let core = try usableCore("take")
        return try core.block("take", for: template, isTaking: true, timeout: timeout, interruption: nil) {
            () throws(SpaceError) in
            try core.lookToTake(template, order, decode: decode)
        }
    }

    // MARK: Suspending the task

    /// Waits for a tuple that matches.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    public func read(matching template: Template, order: MatchOrder = .oldestFirst) async throws(SpaceError) -> Tuple {
        try await readSuspending(template, order, timeout: nil).orEnded("read", name).tuple()
    }

    /// Waits for a tuple that matches; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    public func read(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) async throws(SpaceError) -> Tuple? {
        try await readSuspending(template, order, timeout: timeout)?.tuple()
    }

    /// Takes a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func take(matching template: Template, order: MatchOrder = .oldestFirst) async throws(SpaceError) -> Tuple {
        try await takeSuspending(template, order, timeout: nil) { (match) throws(SpaceError) in try match.tuple() }
            .orEnded("take", name)
    }

    /// Takes a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
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
        return try await core.suspend("read", for: template, isTaking: false, timeout: timeout) {
            () throws(SpaceError) in
            try core.lookToRead(template, order)
        }
    }

    func takeSuspending<T>(
        _ template: Template,
        _ order: MatchOrder,
        timeout: Duration?,
        decode: (Match) throws(SpaceError) -> T
    ) async throws(SpaceError) -> T? {
        let core = try usableCore("take")
        return try await core.suspend("take", for: template, isTaking: true, timeout: timeout) {
            () throws(SpaceError) in
            try core.lookToTake(template, order, decode: decode)
        }
    }
}

extension NamespaceCore {
    @inline(__always)
    fileprivate func lookToRead(_ template: Template, _ order: MatchOrder) throws(SpaceError) -> Found<Match>? {
        try readIfExists("read", template, order).map { Found(result: $0, removed: nil) }
    }

    @inline(__always)
    fileprivate func lookToTake<T>(
        _ template: Template,
        _ order: MatchOrder,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Found<T>? {
        try takeIfExists("take", template, order, decode: decode) { (scope, id, row) throws(SpaceError) in
            try scope.remove(id, row)
        }.map { Found(result: $0.content, removed: $0.id.rawValue) }
    }
}

extension Optional {
    /// The result of a wait without a time-out, which ends only with a result or an error.
    func orEnded(_ operation: String, _ namespace: String) throws(SpaceError) -> Wrapped {
        guard let self else {
            throw SpaceError(.cancelled, operation, namespace: namespace, reason: "the wait ended without a result")
        }
        return self
    }
}
