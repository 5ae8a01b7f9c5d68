import SpaceSystem
import TupleCoding

extension NamespaceCore {
    /// Writes a tuple through the daemon; `nil` if the process must do it itself.
    func sendWrite(_ tuple: EncodedTuple, _ expiry: Expiry) throws(SpaceError) -> TupleID? {
        guard isSending, tuple.bytes.count <= SentOperation.mostBytes, !expiry.isNeverSeen else { return nil }
        let bytes = Array(tuple.bytes)
        let result = try send { .write(tuple: bytes, isRecord: tuple.isRecord, end: renewed(expiry.end)) }
        guard case .wrote(let id) = result else { return try unfit(result) }
        return TupleID(rawValue: id)
    }

    /// Takes the first of several matches through the daemon.
    ///
    /// Processes that take at the same time see the same first matches. So each names as many as there are takers, as far
    /// as its losses tell, and the daemon gives each the first one that is left.
    ///
    func sendRemoval<T, R: Removal>(
        _ removal: R,
        _ template: Template,
        _ order: MatchOrder,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> SentTake<T, R.Result> {
        let width = sender.takeWidth.value
        let matches = try read { (snapshot) throws(SpaceError) in
            var matches: [Match] = []
            var search = try search(snapshot, order)
            try search.forEach(template) { (id, row) throws(SpaceError) in
                // A tuple of a holder that may have ended is asked for first; a large one is not sent.
                guard !row.endsWithHolder || matches.isEmpty, row.size <= SentOperation.mostBytes else { return false }
                matches.append(Match(id, row))
                return matches.count < width
            }
            return matches
        }
        guard let first = matches.first else { return .mustExecute }
        // What does not decode stays in place. `decode` may keep its last result: that is the first match's, and another
        // one that the process gets is decoded once more.
        let count = 1 + matches.dropFirst().prefix { (try? decode($0)) != nil }.count
        let content = try decode(first)
        let ids = matches.prefix(count).map(\.id.rawValue)
        guard let result = try send({ removal.action(ids, in: self) }) else { return .mustExecute }
        guard case .nothing = result else {
            guard let (index, result) = removal.result(of: result), ids.indices.contains(index) else {
                return try unfit(result) ?? .mustExecute
            }
            sender.takeWidth.note(taken: index)
            let own = index == 0 ? content : try decode(matches[index])
            return .taken(Taken(TupleID(rawValue: ids[index]), own, result))
        }
        sender.takeWidth.noteLoss()
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
