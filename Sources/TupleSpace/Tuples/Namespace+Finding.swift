import SpaceSystem
public import TupleCoding

// What read, take and claim share. Their public functions stand in files of the same form (`Namespace+Reading`,
// `Namespace+Taking`, `Namespace+Claiming`): for templates that are values, for matchers, whose types make the types of
// the fields, and for records. Each comes at once (`…IfExists`), blocking the thread with a time-out, async without a
// time-out, and async with one. A wait that ends without a result has taken nothing.
//
// With matchers, the forms are inlined into their callers, down to the bytes: the caller knows the types. Without
// inlining, each call would look up the types of its pack at run time, which costs as much as the transaction. Of the forms
// that await, this is so of the first look, which most of them end with; the wait itself is not inlined.

/// What is done with a match; its name is that of the operation.
@usableFromInline
package enum Verb: String {
    case read, take, claim
    case replace = "replace tuples"
}

extension Namespace {
    // MARK: The verbs

    /// Reads a match, on the calling thread.
    package func read<T>(
        _ template: Template,
        _ order: MatchOrder,
        _ patience: Patience,
        _ decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> T? {
        try find(isTaking: false, template, order, patience, decode)
    }

    /// Takes a match, on the calling thread.
    package func take<T>(
        _ template: Template,
        _ order: MatchOrder,
        _ patience: Patience,
        _ decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> T? {
        try find(isTaking: true, template, order, patience, decode)
    }

    /// Reads or takes a match.
    ///
    /// It is inlined, so that each verb has code of its own, without a branch.
    @inline(__always)
    private func find<T>(
        isTaking: Bool,
        _ template: Template,
        _ order: MatchOrder,
        _ patience: Patience,
        _ decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> T? {
        try attempt(isTaking ? "take" : "read") { (core) throws(SpaceError) in
            try core.find(template, isTaking: isTaking, patience) { () throws(SpaceError) in
                isTaking
                    ? try core.lookToTake(template, order, decode) : try core.lookToRead(template, order, decode)
            }
        }
    }

    /// Waits for a match to read or to take; the task is suspended.
    ///
    /// `first` is the first look if it was made; its time limit then holds.
    func suspend<T>(
        after first: FirstLook? = nil,
        isTaking: Bool,
        _ template: Template,
        _ order: MatchOrder,
        timeout: Duration?,
        _ decode: (Match) throws(SpaceError) -> T
    ) async throws(SpaceError) -> T? {
        try await attempt(suspending: isTaking ? "take" : "read") { (core) async throws(SpaceError) in
            try await core.suspend(for: template, isTaking: isTaking, after: first, timeout: timeout) {
                () throws(SpaceError) in
                isTaking
                    ? try core.lookToTake(template, order, decode) : try core.lookToRead(template, order, decode)
            }
        }
    }

    // MARK: Matchers

    /// Finds a match for matchers, and decodes its fields in the caller, which knows their types.
    ///
    /// `timeout` says how long the thread may block; `nil` looks once, without waiting.
    @inlinable
    @inline(__always)
    func find<each M: Matcher>(
        isTaking: Bool,
        _ order: MatchOrder,
        within timeout: Duration?,
        _ matcher: repeat each M
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try find(
            isTaking: isTaking,
            try template(for: isTaking ? .take : .read, repeat each matcher),
            order,
            within: timeout
        ) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    @inlinable
    func find<Fields>(
        isTaking: Bool,
        _ template: Template,
        _ order: MatchOrder,
        within timeout: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> Fields? {
        var fields: Fields?
        let isFound = try carryOut(isTaking: isTaking, template, order, within: timeout) {
            (decoder) throws(TupleCodingError) in
            fields = try decode(&decoder)
        }
        return isFound ? fields : nil
    }

    /// Finds a match for matchers; the task is suspended until there is one, or `timeout` has passed.
    @inlinable
    @inline(__always)
    func find<each M: Matcher>(
        isTaking: Bool,
        _ order: MatchOrder,
        awaiting timeout: Duration?,
        _ matcher: repeat each M
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        let template = try template(for: isTaking ? .take : .read, repeat each matcher)
        var first = FirstLook(timeout: timeout)
        let found = try look(&first, isTaking: isTaking, template, order) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
        if let found { return found }
        return try await wait(after: first, isTaking: isTaking, template, order, repeat each matcher)
    }

    /// Makes the first look of a wait.
    @inlinable
    func look<Fields>(
        _ first: inout FirstLook,
        isTaking: Bool,
        _ template: Template,
        _ order: MatchOrder,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> Fields? {
        var fields: Fields?
        let isFound = try carryOut(&first, isTaking: isTaking, template, order) { (decoder) throws(TupleCodingError) in
            fields = try decode(&decoder)
        }
        return isFound ? fields : nil
    }

    /// Makes the first look of a wait, without generics; the result says whether there was a match.
    @usableFromInline
    func carryOut(
        _ first: inout FirstLook,
        isTaking: Bool,
        _ template: Template,
        _ order: MatchOrder,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Void
    ) throws(SpaceError) -> Bool {
        try attempt(isTaking ? "take" : "read") { (core) throws(SpaceError) in
            func fields(_ match: Match) throws(SpaceError) { try match.decode(decode) }
            return try first.make(in: core) { () throws(SpaceError) in
                isTaking
                    ? try core.lookToTake(template, order, fields) : try core.lookToRead(template, order, fields)
            } != nil
        }
    }

    /// Waits for a match after a first look that found none.
    @usableFromInline
    func wait<each M: Matcher>(
        after first: FirstLook,
        isTaking: Bool,
        _ template: Template,
        _ order: MatchOrder,
        _ matcher: repeat each M
    ) async throws(SpaceError) -> (repeat (each M).Matched)? {
        try await suspend(after: first, isTaking: isTaking, template, order, timeout: nil) {
            (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
    }

    /// Reads or takes, without generics; the result says whether there was a match.
    ///
    /// The last call of `decode` is for the tuple that was read or taken. There may be earlier calls, for tuples that
    /// other processes took first.
    @usableFromInline
    func carryOut(
        isTaking: Bool,
        _ template: Template,
        _ order: MatchOrder,
        within timeout: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Void
    ) throws(SpaceError) -> Bool {
        let patience = timeout.map { Patience.waiting($0) } ?? .none
        func fields(_ match: Match) throws(SpaceError) { try match.decode(decode) }
        return try find(isTaking: isTaking, template, order, patience, fields) != nil
    }

    /// The template that matchers make.
    ///
    /// Throws `badData` if an actual is nested too deep.
    @inlinable
    package func template<each M: Matcher>(for verb: Verb, _ matcher: repeat each M) throws(SpaceError) -> Template {
        do throws(TupleCodingError) {
            return try Template(checking: repeat each matcher)
        } catch {
            throw refusal(error, verb)
        }
    }

    @usableFromInline
    func refusal(_ error: TupleCodingError, _ verb: Verb) -> SpaceError {
        SpaceError(error, verb.rawValue, namespace: name)
    }
}

extension Match {
    /// The fields, as `body` decodes them.
    package func decode<Fields>(
        _ body: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> Fields {
        do throws(TupleCodingError) {
            if let lent {
                var decoder = TupleDecoder(lent.pointee)
                return try body(&decoder)
            }
            return try bytes.withBytes { (bytes) throws(TupleCodingError) in
                var decoder = TupleDecoder(bytes)
                return try body(&decoder)
            }
        } catch {
            throw SpaceError(error)
        }
    }

    /// The fields, typed as the matchers say.
    package func fields<each M: Matcher>(_ matcher: repeat each M) throws(SpaceError) -> (repeat (each M).Matched) {
        try decode { (decoder) throws(TupleCodingError) in try decoder.decodeMatched(repeat each matcher) }
    }
}

extension Tuple {
    /// The record that the tuple is, or its fields as an array, decoded.
    package func content<Content: Decodable>(_ type: Content.Type) throws(SpaceError) -> Content {
        try coding { () throws(TupleCodingError) in
            guard let record else { return try TupleCoding.Value.array(fields).decode(type) }
            return try record.decode(type)
        }
    }
}

extension Optional where Wrapped: ~Copyable {
    /// The result of a wait without a time-out, which ends only with a result or an error.
    @usableFromInline
    consuming func orEnded() throws(SpaceError) -> Wrapped {
        guard let self else { throw SpaceError(.cancelled, "wait", reason: "it ended without a result") }
        return self
    }
}
