import Glibc
import SpaceSystem
import TupleCoding

/// Operations that go to the daemon as data, in a namespace that several machines share: the daemon executes what several
/// processes have sent in one transaction.
extension NamespaceCore {
    /// Whether this process sends its operations; the daemon itself executes its own.
    @inline(__always)
    var isSending: Bool { control.staying.isReplica && engine.sessionMember != nil }

    /// Sends an operation, and waits for its result.
    ///
    /// - Parameter action: Makes the operation, with its holders as they are now; it may be called again.
    /// - Returns: The result; `nil` if the process must execute the operation itself.
    /// - Throws: The operation's error; `clusterUnavailable`, `outcomeUnknown`, `namespaceDeleted`.
    func send(_ action: () -> SentOperation.Action) throws(SpaceError) -> SentResult? {
        try checkUsable()
        if deferred.isDue { carryOutDeferred() }
        let result = try renewingSession { () throws(SpaceError) in
            let operation = SentOperation(session: session.number, process: getpid(), action())
            let result = try sender.send(operation, timeout: timeout)
            if case .failed(let error) = result { throw error }
            return result
        }
        if case .notSent = result { return nil }
        return result
    }

    /// Writes a tuple through the daemon; `nil` if the process must do it itself.
    func sendWrite(_ tuple: EncodedTuple, _ expiry: Expiry) throws(SpaceError) -> TupleID? {
        guard isSending, tuple.bytes.count <= SentOperation.mostBytes, !expiry.isNeverSeen else { return nil }
        let bytes = Array(tuple.bytes)
        let result = try send { .write(tuple: bytes, isRecord: tuple.isRecord, end: renewed(expiry.end)) }
        guard case .wrote(let id) = result else { return try unfit(result) }
        return TupleID(rawValue: id)
    }

    /// Completes claims through the daemon.
    ///
    /// - Returns: `false` if the process must do it itself.
    func sendCompletion(_ claims: [HeldClaim]) throws(SpaceError) -> Bool {
        guard isSending, claims.count <= SentOperation.mostTuples else { return false }
        let keys = claims.map { SentOperation.ClaimKey(id: $0.id.rawValue, number: $0.number) }
        let result = try send { .complete(keys) }
        guard case .done = result else { return try unfit(result) ?? false }
        return true
    }

    /// Sets a cell through the daemon; `nil` if the process must do it itself.
    func sendSetting(
        _ key: String,
        _ element: [UInt8],
        _ end: RowEnd,
        if condition: CellCondition
    ) throws(SpaceError) -> (isSet: Bool, old: Value?)? {
        guard isSending, max(element.count, condition.size) <= SentOperation.mostBytes else { return nil }
        let result = try send { .set(key: key, element: element, end: renewed(end), condition: condition) }
        guard case .found(let old, let isSet) = result else { return try unfit(result) }
        let value = try old.map { (old) throws(SpaceError) in
            try old.withBytes { (old) throws(SpaceError) in
                try coding { () throws(TupleCodingError) in try Value(encodedElement: old) }
            }
        }
        return (isSet, value)
    }

    /// Adds to a cell's integer through the daemon; `nil` if the process must do it itself.
    func sendIncrement(_ key: String, by amount: Int) throws(SpaceError) -> Int? {
        guard isSending else { return nil }
        let result = try send { .increment(key: key, amount: Int64(amount)) }
        guard case .sum(let sum) = result else { return try unfit(result) }
        return Int(sum)
    }

    /// `nil` for an operation that the process must execute itself; throws if the daemon answers something else.
    func unfit<R>(_ result: SentResult?) throws(SpaceError) -> R? {
        guard result != nil else { return nil }
        throw .outcomeUnknown("the daemon of this machine gave an answer that does not fit")
    }

    // MARK: Taking

    /// Takes the first of several matches through the daemon.
    ///
    /// Processes that take at the same time see the same first matches. So each names as many as there are takers, as far
    /// as its losses tell, and the daemon gives each the first one that is left.
    ///
    /// - Returns: `nil` if all were gone: the caller looks again.
    func sendRemoval<T, R: Removal>(
        _ removal: R,
        _ template: Template,
        _ order: MatchOrder,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> SentTake<T, R.Result> {
        let width = takeWidth.value
        let matches = try read { (snapshot) throws(SpaceError) in
            var matches: [Match] = []
            var search = try search(snapshot, template, order)
            try search.forEach { (id, row) throws(SpaceError) in
                // A tuple of a holder that may have ended is asked for first; a large one is not sent.
                guard !row.endsWithHolder || matches.isEmpty, row.size <= SentOperation.mostBytes else { return false }
                matches.append(Match(id, row))
                return matches.count < width
            }
            return matches
        }
        guard let first = matches.first else { return .mustExecute }
        // What does not decode stays in place. `decode` may keep its last result, so the tuple that is got is decoded once
        // more.
        _ = try decode(first)
        let count = 1 + matches.dropFirst().prefix { (try? decode($0)) != nil }.count
        let ids = matches.prefix(count).map(\.id.rawValue)
        guard let result = try send({ removal.action(ids, in: self) }) else { return .mustExecute }
        guard case .nothing = result else {
            guard let (index, result) = removal.result(of: result), ids.indices.contains(index) else {
                return try unfit(result) ?? .mustExecute
            }
            takeWidth.note(taken: index)
            return .taken(Taken(TupleID(rawValue: ids[index]), try decode(matches[index]), result))
        }
        takeWidth.noteLoss()
        return .lost
    }
}

/// What became of a take through the daemon.
enum SentTake<Content, Result> {
    case taken(Taken<Content, Result>)
    /// Others have taken all that were named.
    case lost
    /// The process must take by itself.
    case mustExecute
}
