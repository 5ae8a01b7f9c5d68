/// A transaction's body, run under the gate.
///
/// Guarantees: the body's changes are committed together or not at all, and the body runs once. An error in the middle
/// of a change, such as that of a full disk, undoes the whole transaction, even if the body catches the error. While
/// the body runs, the namespace's own operations are refused on this thread: they would wait for the gate that the
/// thread holds, or see the namespace as it was before the transaction.
package final class TransactionState {
    package static let operation = "run a transaction"

    package let namespace: Namespace
    private let core: NamespaceCore
    private let scope: WriteScope
    private var changes = 0
    private var bytes = 0
    private var isOpen = true
    /// The error that left a change half done.
    package private(set) var failure: SpaceError?
    /// Whether a claim was made, or something written that ends with a holder; others then listen for its end.
    var hasHolder = false
    /// Whether a search found less than it was asked for while a claim existed.
    private var hasMissed = false
    private var searches: [(shape: Shape, table: ShapeTable, examined: Int)] = []

    package init(_ namespace: Namespace, _ core: NamespaceCore, _ scope: WriteScope) {
        self.namespace = namespace
        self.core = core
        self.scope = scope
    }

    package func close() { isOpen = false }

    private func check() throws(SpaceError) {
        if let failure { throw failure }
        if core.isInherited { try core.checkUsable() }
        guard isOpen else { throw .misuse("the transaction has ended", advice: "use it only while its body runs") }
    }

    /// Reads the namespace with the body's own changes.
    package func read<Result>(_ body: (WriteScope) throws(SpaceError) -> Result) throws(SpaceError) -> Result {
        try naming { () throws(SpaceError) in
            try check()
            return try body(scope)
        }
    }

    /// Runs `body` as an operation of the transaction; see ``NamespaceCore/naming(_:_:)``.
    package func naming<Result>(
        _ operation: @autoclosure () -> String = TransactionState.operation,
        _ body: () throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try core.naming(operation(), body)
    }

    /// Makes a change, or as many as `count` says; `bytes` is the size of the values that come and go.
    package func change<Result>(
        _ purpose: WritePurpose,
        count: Int = 1,
        bytes more: Int,
        _ body: (WriteScope) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try naming { () throws(SpaceError) in
            try check()
            let before = self.changes
            let (changes, bytes) = (before + count, bytes + more)
            guard changes <= Limits.transactionChanges, bytes <= Limits.transactionBytes else {
                throw .transactionTooLarge(changes: changes, bytes: bytes, before: before)
            }
            (self.changes, self.bytes) = (changes, bytes)
            scope.meter.use(purpose)
            do throws(SpaceError) {
                return try body(scope)
            } catch {
                // What is journaled is written after the body, and is not counted yet.
                let fitting = scope.isJournaling ? nil : before
                let error = before > 0 && error.isOfStepTooLarge ? error.ofTransaction(fitting: fitting) : error
                failure = error.named(Self.operation, namespace.name)
                throw error
            }
        }
    }

    /// Carries out an operation as a change of the transaction.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - purpose: Whether it may use the disk space that is kept back for removals; `nil`: as the operation says.
    /// - Returns: The outcome.
    /// - Throws: The operation's error, and `transactionTooLarge`.
    package func execute<O: Operation>(
        _ operation: O,
        _ purpose: WritePurpose? = nil
    ) throws(SpaceError) -> O.Outcome {
        let size = try read { (scope) throws(SpaceError) in try operation.size(in: scope) }
        return try change(purpose ?? O.purpose, bytes: size) { (scope) throws(SpaceError) in
            try core.renewed(operation).execute(in: scope)
        }
    }

    // MARK: Searching

    /// The matches, at most `max`, copied, because what follows may change the rows.
    func matches(_ template: TemplateForm, _ order: MatchOrder, max: Int) throws(SpaceError) -> [Match] {
        try read { (scope) throws(SpaceError) in
            guard max > 0 else { return [] }
            try template.checkChoice()
            var found: [Match] = []
            var search = Search(scope.snapshot, scope.shapes, order)
            try search.forEach(template) { (id, row) throws(SpaceError) in
                found.append(Match(id, row))
                return found.count < max
            }
            searches.append((template.shape, scope.shapes, search.examined))
            if found.count < max, scope.counters.claimed > 0 { hasMissed = true }
            return found
        }
    }

    /// The first match, and its content; it is decoded before anything is done with it.
    func first<Content>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ verb: Verb,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> (match: Match, content: Content)? {
        guard let match = try matches(template, order, max: 1).first else { return nil }
        return (match, try naming(verb.rawValue) { () throws(SpaceError) in try match.decode(decode) })
    }

    /// The matches, and their contents.
    func all<Content>(
        _ selection: Selection<Content>,
        _ order: MatchOrder,
        max: Int,
        _ verb: Verb
    ) throws(SpaceError) -> (matches: [Match], contents: [Content]) {
        let matches = try matches(selection.form, order, max: max)
        let contents = try naming(verb.rawValue) { () throws(SpaceError) in try matches.contents(selection.decode) }
        return (matches, contents)
    }

    func takeFirst<Content>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> Content? {
        guard let (match, content) = try first(template, order, .take, decode) else { return nil }
        try take([match])
        return content
    }

    func claimFirst<Content>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> (claim: HeldClaim, content: Content)? {
        guard let (match, content) = try first(template, order, .claim, decode) else { return nil }
        let tuple = try naming(Verb.claim.rawValue) { () throws(SpaceError) in try match.tuple() }
        guard let claim = try claim(match, tuple, deadline: deadline) else { return nil }
        return (claim, content)
    }

    package func count(_ template: TemplateForm) throws(SpaceError) -> Int {
        try read { (scope) throws(SpaceError) in
            if scope.counters.claimed > 0 { hasMissed = true }
            var count = 0
            var search = Search(scope.snapshot, scope.shapes, .oldestFirst)
            try search.forEach(template) { (_, _) throws(SpaceError) in
                count += 1
                return true
            }
            return count
        }
    }

    /// Removes tuples that a search has just found.
    package func take(_ matches: [Match]) throws(SpaceError) {
        for match in matches { _ = try execute(Take(Candidate(copied: match))) }
    }

    /// Claims a tuple that a search has just found; `tuple` is its decoded content.
    package func claim(_ match: Match, _ tuple: Tuple, deadline: Duration?) throws(SpaceError) -> HeldClaim? {
        try naming(ClaimFound.name) { () throws(SpaceError) in try deadline?.checkNotNegative("a deadline") }
        let claim = ClaimFound(Candidate(copied: match), core.claiming.ownTerms(deadline: deadline))
        guard case .removed(let made) = try execute(claim) else { return nil }
        hasHolder = true
        return HeldClaim(match.id, made, tuple)
    }

    package func complete(_ claim: HeldClaim) throws(SpaceError) {
        try execute(Complete(claim.key, session: core.session.number))
    }

    package func release(_ claim: HeldClaim) throws(SpaceError) -> Bool {
        try execute(ReleaseClaims(claims: [claim.key], session: core.session.number)) > 0
    }

    /// Called after the transaction has ended in any way and the gate is released: returns what dead processes had
    /// claimed.
    ///
    /// A body can't do that; the next transaction finds the tuples.
    package func returnIfAskingIsDue() {
        if hasMissed { _ = core.endedHolders.returnIfAskingIsDue() }
    }

    /// Called once the transaction is committed and the gate is released.
    func followUp() {
        if hasHolder { core.claimants.announce() }
        for search in searches {
            core.engine.indexUpkeep.followUp(search.shape, search.table, examined: search.examined, on: core.engine)
        }
    }
}

extension NamespaceCore {
    /// Runs a body in a transaction of its own, which is committed before this function returns.
    ///
    /// It does not go through the write combiner: operations that share a transaction run again if another of them
    /// fails, and the body must run only once.
    package func transaction<Result>(
        in namespace: Namespace,
        _ operation: String,
        _ body: (borrowing Transaction) throws -> Result
    ) throws -> Result {
        try naming(operation) { () throws(SpaceError) in try checkUsable() }
        if deferred.isDue { carryOutDeferred() }
        endedHolders.returnOverdue()
        // Carries out the releases that the body deferred, whether the transaction was committed or not.
        defer { if deferred.isDue { carryOutDeferred() } }
        var outcome: Swift.Result<Result, any Error>?
        var state: TransactionState?
        var numbers: Range<UInt64> = 0..<0
        defer { state?.returnIfAskingIsDue() }
        do throws(SpaceError) {
            // The member is looked at before the body runs.
            try participation.renewingSession { () throws(SpaceError) in
                try engine.underGate { () throws(SpaceError) in
                    try engine.commitBody { (scope) throws(SpaceError) in
                        let current = TransactionState(namespace, self, scope)
                        state = current
                        scope.beginNet()
                        let first = scope.counters.nextNumber
                        let ended = run(current, body)
                        numbers = scope.numbers(since: first)
                        outcome = ended
                        // Whatever error it was, the transaction is undone, and the caller gets the body's own error.
                        // The engine learns of a lack of room too: it then applies marks, which may make room for the
                        // next attempt.
                        if case .failure(let cause) = ended {
                            let cause = cause as? SpaceError
                            throw cause.flatMap { $0.isOfRoom ? $0 : nil }
                                ?? SpaceError(.cancelled, reason: "the body threw")
                        }
                        try scope.unsettled.settleAll(in: scope)
                        try scope.endNet()
                    }
                    engine.announce()
                }
            }
        } catch {
            if case .failure(let cause)? = outcome { throw cause }
            letGo(after: error, of: numbers, session: session.number)
            throw error.named(operation, name.text)
        }
        // Index upkeep writes, and comes after what the body has released.
        if deferred.isDue { carryOutDeferred() }
        state?.followUp()
        guard let outcome else {
            throw SpaceError(.inputOutput, operation, reason: "the transaction's body was not run")
        }
        return try outcome.get()
    }

    private func run<Result>(
        _ state: TransactionState,
        _ body: (borrowing Transaction) throws -> Result
    ) -> Swift.Result<Result, any Error> {
        engine.bodyThread.begin()
        defer {
            engine.bodyThread.end()
            state.close()
        }
        do {
            let result = try body(Transaction(state))
            if let failure = state.failure { throw failure }
            return .success(result)
        } catch {
            return .failure(error)
        }
    }
}

extension SpaceError {
    fileprivate static func transactionTooLarge(changes: Int, bytes: Int, before: Int) -> SpaceError {
        SpaceError(
            .transactionTooLarge,
            reason: "\(changes) changes with \(bytes) bytes are more than one transaction may make "
                + "(\(Limits.transactionChanges) and \(Limits.transactionBytes))"
                + (before > 0 ? "; the \(before.grouped) changes before fit" : ""),
            advice: "do the work in several transactions"
        )
    }
}
