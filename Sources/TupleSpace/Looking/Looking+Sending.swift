import SpaceMachines
import SpaceSystem
import TupleCoding

extension Looking {
    /// Sends the removal of the first match that is left.
    ///
    /// Processes that remove at the same time see the same first matches. So each process names as many matches as
    /// there are takers (it estimates their number from its losses), and gets the first one that is left.
    ///
    /// - Returns: What was removed, or that others have removed all that were named; `nil` if the process must do it itself.
    func removeBySending<T, R: SharedRemoval>(
        _ removal: R,
        _ template: TemplateForm,
        _ order: MatchOrder,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Removed<Taken<T, R.Made>>? {
        let width = core.takeWidth.value
        let matches = try core.read { (snapshot) throws(SpaceError) in
            var matches: [Match] = []
            var search = try search(snapshot, order)
            try search.forEach(template) { (id, row) throws(SpaceError) in
                // A tuple of a holder that may have ended is asked for first; a large one is not sent.
                guard !row.endsWithHolder || matches.isEmpty, row.size <= SentOperations.mostBytes else { return false }
                matches.append(Match(id, row))
                return matches.count < width
            }
            return matches
        }
        guard let match = matches.first else { return nil }
        // A tuple that does not decode stays in place. `decode` may keep its last result, which is that of the first
        // match; if the process gets another match, that one is decoded again.
        let count = 1 + matches.dropFirst().prefix { (try? decode($0)) != nil }.count
        let content = try decode(match)
        let ids = matches.prefix(count).map(\.id.rawValue)
        switch try core.send(removal.ofFirst(ids)) {
        case nil: return nil
        case .lost?:
            core.takeWidth.noteLoss()
            return .lost
        case .removed(let first)?:
            let index = first.index
            guard ids.indices.contains(index) else { throw .answerDoesNotFit }
            core.takeWidth.note(taken: index)
            let own = index == 0 ? content : try decode(matches[index])
            return .removed(Taken(matches[index].id, own, first.made))
        }
    }
}
