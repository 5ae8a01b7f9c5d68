import SpaceSystem
public import TupleCoding

// Waiting for any of several templates. The first match of any of them is the oldest, or the newest, of all that match.

extension Namespace {
    /// Takes the first tuple that any of several templates matches, as soon as there is one; `nil` if the time-out passes
    /// first.
    ///
    /// Blocks the thread. Among the tuples that match, `order` says which comes first, whatever template it matches.
    ///
    /// ```swift
    /// let next = try jobs.take(anyOf: [["resize", .any], ["stop"]], timeout: .seconds(5))
    /// ```
    ///
    /// - Parameters:
    ///   - templates: One template at least.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once.
    /// - Returns: The tuple, which is gone for all others; `nil` if the time-out passes first.
    /// - Throws: What ``takeAll(matching:order:max:)`` throws; `invalidArgument` without a template.
    /// - Complexity: A look costs as much as one for each template. With more than one, every tuple that appears wakes
    ///   the waiter.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take(
        anyOf templates: [Template],
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Tuple? {
        try find(anyOf: templates, isTaking: true, order, .waiting(timeout))
    }

    /// Takes the first tuple that any of several templates matches, as soon as there is one.
    ///
    /// - Parameters:
    ///   - templates: One template at least.
    ///   - order: Which tuple comes first, if several match.
    ///   - timeout: How long to wait; zero looks once, `nil` waits without a limit.
    /// - Returns: The tuple, which is gone for all others; `nil` if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func take(
        anyOf templates: [Template],
        order: MatchOrder = .oldestFirst,
        timeout: Duration? = nil
    ) async throws(SpaceError) -> Tuple? {
        try await suspend(anyOf: templates, isTaking: true, order, timeout)
    }

    /// Reads the first tuple that any of several templates matches; otherwise the same as
    /// ``take(anyOf:order:timeout:)-(_,_,Duration)``.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func read(
        anyOf templates: [Template],
        order: MatchOrder = .oldestFirst,
        timeout: Duration
    ) throws(SpaceError) -> Tuple? {
        try find(anyOf: templates, isTaking: false, order, .waiting(timeout))
    }

    /// Reads the first tuple that any of several templates matches; otherwise the same as
    /// ``take(anyOf:order:timeout:)-(_,_,Duration?)``.
    public func read(
        anyOf templates: [Template],
        order: MatchOrder = .oldestFirst,
        timeout: Duration? = nil
    ) async throws(SpaceError) -> Tuple? {
        try await suspend(anyOf: templates, isTaking: false, order, timeout)
    }

    // MARK: Several at once

    /// Waits for a tuple that matches, and takes it with all others that match, up to a number, in one transaction.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - template: What to look for; the default matches all tuples.
    ///   - order: Which tuples come first.
    ///   - max: The largest number of tuples to take, from 1.
    ///   - timeout: How long to wait for the first; zero looks once.
    /// - Returns: The tuples that were taken, in order; none if the time-out passes first.
    /// - Throws: What ``takeAll(matching:order:max:)`` throws.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func takeAll(
        matching template: Template = .any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max,
        timeout: Duration
    ) throws(SpaceError) -> [Tuple] {
        try attempt("take") { (core) throws(SpaceError) in
            try core.find(template, isTaking: true, .waiting(timeout)) { () throws(SpaceError) in
                try core.lookToTakeAll(template, order, max: max)
            } ?? []
        }
    }

    /// Waits for a tuple that matches, and takes it with all others that match, up to a number, in one transaction.
    ///
    /// - Parameters:
    ///   - template: What to look for; the default matches all tuples.
    ///   - order: Which tuples come first.
    ///   - max: The largest number of tuples to take, from 1.
    ///   - timeout: How long to wait for the first; zero looks once, `nil` waits without a limit.
    /// - Returns: The tuples that were taken, in order; none if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func takeAll(
        matching template: Template = .any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max,
        timeout: Duration?
    ) async throws(SpaceError) -> [Tuple] {
        try await attempt(suspending: "take") { (core) async throws(SpaceError) in
            try await core.suspend(for: template, isTaking: true, timeout: timeout) { () throws(SpaceError) in
                try core.lookToTakeAll(template, order, max: max)
            } ?? []
        }
    }

    // MARK: Helpers

    /// Reads all tuples that any of several templates matches, each once, in order, and passes them on in parts.
    ///
    /// Nothing is locked, and no snapshot is held, while `body` runs; memory is bounded by a part of 4 MiB. The matches
    /// of one template in one part are of one moment. So up to 4 MiB are of one moment; of more, a tuple that was there
    /// all the time comes once, one that was taken meanwhile may be missing, and one that was written since the first
    /// part does not come.
    package func forEachPart(
        anyOf templates: [Template],
        order: MatchOrder,
        max: Int = .max,
        _ body: ([Tuple]) throws -> Void
    ) throws {
        var (ids, wanted) = (Search.allIDs, max)
        while wanted > 0, !ids.isEmpty {
            let (tuples, rest) = try attempt("read") { (core) throws(SpaceError) in
                try core.readPart(anyOf: templates, order, max: wanted, within: ids)
            }
            if !tuples.isEmpty { try body(tuples) }
            guard let rest else { return }
            (ids, wanted) = (rest, wanted - tuples.count)
        }
    }

    /// Reads or takes the first match of any template, on the calling thread.
    package func find(
        anyOf templates: [Template],
        isTaking: Bool,
        _ order: MatchOrder,
        _ patience: Patience
    ) throws(SpaceError) -> Tuple? {
        try attempt(isTaking ? "take" : "read") { (core) throws(SpaceError) in
            try templates.checkNotEmpty()
            return try core.find(anyOf: templates, isTaking: isTaking, patience) { () throws(SpaceError) in
                try core.look(forAnyOf: templates, isTaking: isTaking, order)
            }
        }
    }

    private func suspend(
        anyOf templates: [Template],
        isTaking: Bool,
        _ order: MatchOrder,
        _ timeout: Duration?
    ) async throws(SpaceError) -> Tuple? {
        try await attempt(suspending: isTaking ? "take" : "read") { (core) async throws(SpaceError) in
            try templates.checkNotEmpty()
            return try await core.suspend(
                Interest(anyOf: templates, isTaking: isTaking),
                text: { templates.waitText },
                until: MonotonicInstant.deadline(after: timeout)
            ) { () throws(SpaceError) in
                try core.look(forAnyOf: templates, isTaking: isTaking, order)
            }
        }
    }
}

extension NamespaceCore {
    /// How many encoded bytes of one template's matches make a part, unless the first is larger.
    private static let partBytes = 4 << 20

    /// A part of what any of several templates matches, and the ids of the rest, if there may be more.
    fileprivate func readPart(
        anyOf templates: [Template],
        _ order: MatchOrder,
        max: Int,
        within ids: Range<UInt64>
    ) throws(SpaceError) -> (tuples: [Tuple], rest: Range<UInt64>?) {
        var found: [TupleID: Match] = [:]
        var rest: Range<UInt64>?
        for template in templates {
            // What the templates before have left for the next part is not looked at here.
            let ids = ids.without(rest, order)
            let (matches, end) = try readPart(template, order, max: max, maxBytes: Self.partBytes, within: ids)
            for match in matches { found[match.id] = match }
            guard let end, let last = matches.last?.id.rawValue else { continue }
            switch order {
            case .oldestFirst: rest = last + 1..<Swift.max(last + 1, min(rest?.upperBound ?? ids.upperBound, end))
            case .newestFirst: rest = ids.lowerBound..<last
            }
        }
        let here = ids.without(rest, order)
        let matches = found.values.filter { here.contains($0.id.rawValue) }
        let sorted = matches.sorted { order == .oldestFirst ? $0.id < $1.id : $0.id > $1.id }
        if sorted.count > max { return (try Array(sorted.prefix(max)).tuples(), nil) }
        return (try sorted.tuples(), rest)
    }

    /// Looks on the calling thread until `look` finds something that one of the templates matches.
    package func find<Result>(
        anyOf templates: [Template],
        isTaking: Bool,
        _ patience: Patience,
        _ look: () throws(SpaceError) -> Found<Result>?
    ) throws(SpaceError) -> Result? {
        guard case .waiting(let timeout, let interruption) = patience else { return try look()?.result }
        return try block(
            Interest(anyOf: templates, isTaking: isTaking),
            text: templates.waitText,
            until: MonotonicInstant.deadline(after: timeout),
            interruption: interruption,
            look
        )
    }

    fileprivate func look(
        forAnyOf templates: [Template],
        isTaking: Bool,
        _ order: MatchOrder
    ) throws(SpaceError) -> Found<Tuple>? {
        try lookForAny(of: templates, order) { (template) throws(SpaceError) in
            isTaking
                ? try lookToTake(template, order) { (match) throws(SpaceError) in try match.tuple() }
                : try lookToRead(template, order) { (match) throws(SpaceError) in try match.tuple() }
        }
    }

    fileprivate func lookToTakeAll(
        _ template: Template,
        _ order: MatchOrder,
        max: Int
    ) throws(SpaceError) -> Found<[Tuple]>? {
        guard max > 0 else { throw .badNumber("\(max) is no number of tuples", advice: "give a number from 1") }
        let taken = try takeAll(template, order, max: max)
        guard let first = taken.first else { return nil }
        return Found(result: taken.map(\.content), removed: first.id.rawValue)
    }
}

extension Range<UInt64> {
    /// The ids that come before those of `rest`.
    fileprivate func without(_ rest: Range<UInt64>?, _ order: MatchOrder) -> Range<UInt64> {
        guard let rest else { return self }
        switch order {
        case .oldestFirst: return lowerBound..<rest.lowerBound
        case .newestFirst: return rest.upperBound..<upperBound
        }
    }
}
