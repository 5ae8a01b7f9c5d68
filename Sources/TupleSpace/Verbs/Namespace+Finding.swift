import SpaceSystem
public import TupleCoding

// What read, take and claim share. Each comes at once (`…IfExists`), blocking the thread with a time-out, async without a
// time-out, and async with one; and each of these for a selection, and for the fields that would make one. A wait that
// ends without a result has taken nothing.
//
// The forms are inlined into their callers, down to the bytes: the caller knows the types. Without inlining, each call
// would look up the types of its fields at run time, which costs as much as the transaction. So what is below knows no
// types: it is passed a closure that decodes a match into the caller's variable.

extension Namespace {
    // MARK: With the content's type

    /// Reads or takes a match, on the calling thread.
    @inlinable
    @inline(__always)
    func find<Content>(
        isTaking: Bool,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ wait: Wait,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> Content? {
        var content: Content?
        let isFound = try carryOut(isTaking: isTaking, template, order, wait) { (decoder) throws(TupleCodingError) in
            content = try decode(&decoder)
        }
        return isFound ? content : nil
    }

    /// Reads or takes a match; the task is suspended until there is one, or the time has passed.
    @inlinable
    @inline(__always)
    func find<Content>(
        isTaking: Bool,
        _ template: TemplateForm,
        _ order: MatchOrder,
        awaiting wait: Wait,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) async throws(SpaceError) -> Content? {
        var content: Content?
        var first = FirstLook(wait)
        let isFound = try carryOut(&first, isTaking: isTaking, template, order) { (decoder) throws(TupleCodingError) in
            content = try decode(&decoder)
        }
        if isFound { return content }
        return try await carryOut(after: first, isTaking: isTaking, template, order) {
            (decoder) throws(TupleCodingError) in
            content = try decode(&decoder)
        } ? content : nil
    }

    // MARK: Without it

    /// Reads or takes; the result says whether there was a match.
    @usableFromInline
    func carryOut(
        isTaking: Bool,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ wait: Wait,
        _ keep: Keeping
    ) throws(SpaceError) -> Bool {
        try attempt(Verb(isTaking: isTaking).rawValue) { (core) throws(SpaceError) in
            try core.looking.find(template, isTaking: isTaking, wait) { (aim: inout Aim) throws(SpaceError) in
                try core.looking.look(isTaking: isTaking, template, order, &aim, keep)
            } != nil
        }
    }

    /// Makes the first look of a wait.
    @usableFromInline
    func carryOut(
        _ first: inout FirstLook,
        isTaking: Bool,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ keep: Keeping
    ) throws(SpaceError) -> Bool {
        try attempt(Verb(isTaking: isTaking).rawValue) { (core) throws(SpaceError) in
            if Task.isCancelled { throw .cancelled }
            return try first.make(in: core) { (aim: inout Aim) throws(SpaceError) in
                try core.looking.look(isTaking: isTaking, template, order, &aim, keep)
            } != nil
        }
    }

    /// Waits after a first look that found nothing.
    @usableFromInline
    func carryOut(
        after first: FirstLook,
        isTaking: Bool,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ keep: Keeping
    ) async throws(SpaceError) -> Bool {
        try await attempt(suspending: Verb(isTaking: isTaking).rawValue) { (core) async throws(SpaceError) in
            try await core.looking.suspend(for: template, isTaking: isTaking, after: first) {
                (aim: inout Aim) throws(SpaceError) in
                try core.looking.look(isTaking: isTaking, template, order, &aim, keep)
            } != nil
        }
    }

    // MARK: Fields that make a selection

    /// Lends what fields match, for which nothing is allocated.
    ///
    /// Throws `badData` if an actual is nested too deep.
    @inlinable
    @inline(__always)
    package func withTemplate<each M: Matcher, Result: ~Copyable>(
        for verb: Verb,
        _ matcher: repeat each M,
        to body: (TemplateForm) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try TemplateForm.lend(repeat each matcher, refusal: { refusal($0, verb) }, to: body)
    }

    /// What fields match, for calls that may wait as a task.
    ///
    /// Throws `badData` if an actual is nested too deep.
    @inlinable
    package func template<each M: Matcher>(
        for verb: Verb,
        _ matcher: repeat each M
    ) throws(SpaceError) -> TemplateForm {
        do throws(TupleCodingError) {
            return try TemplateForm(checking: repeat each matcher)
        } catch {
            throw refusal(error, verb)
        }
    }

    @usableFromInline
    func refusal(_ error: TupleCodingError, _ verb: Verb) -> SpaceError {
        SpaceError(error, verb.rawValue, namespace: name)
    }
}

extension Looking {
    /// Looks for a match to read or to take.
    ///
    /// It is inlined, so that each verb has code of its own, without a branch.
    @inline(__always)
    fileprivate func look(
        isTaking: Bool,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ aim: inout Aim,
        _ keep: Keeping
    ) throws(SpaceError) -> Found<Void>? {
        func content(_ match: Match) throws(SpaceError) { try match.decode(keep) }
        func decode(_ tuple: EncodedTuple) throws(TupleCodingError) { try tuple.decode(keep) }
        if aim.takesFirst || !isTaking {
            let near = try lookNear(template, order, decode) { (id, _) throws(SpaceError) -> Found<Void>? in
                guard isTaking else { return Found(result: (), removed: nil) }
                guard case .removed = try core.execute(Take(Candidate(id))) else { return nil }
                return Found(result: (), removed: id.rawValue)
            }
            switch near {
            case .found(let found): return found
            case .nothing: return nil
            case .unknown: break
            }
        }
        return isTaking ? try lookToTake(template, order, &aim, content) : try lookToRead(template, order, content)
    }
}
