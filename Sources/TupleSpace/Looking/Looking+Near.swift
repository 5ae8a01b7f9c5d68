import SpaceSystem
import TupleCoding

/// What a look in the near end alone has found.
enum NearFind<Result> {
    case found(Result)
    /// There is no match, neither in the near end nor in the tables.
    case nothing
    /// The look has to be made in near end and tables.
    case unknown
}

extension Looking {
    /// Looks for the first match, and passes its id and its content to `take`.
    ///
    /// Most looks of a short queue end here. A tuple that does not decode stays in place.
    ///
    /// - `take`: Removes the tuple, if the look is to remove it; its result is `nil` if other processes were quicker.
    @inline(__always)
    func lookNear<Content, Result>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ decode: (EncodedTuple) throws(TupleCodingError) -> Content,
        _ take: (TupleID, Content) throws(SpaceError) -> Result?
    ) throws(SpaceError) -> NearFind<Result> {
        // A choice looks by each of its templates. If a daemon removes the tuple, it names several.
        guard template.choices == nil, !core.isSending else { return .unknown }
        core.endedHolders.returnOverdue()
        var content: Content?
        var failure: TupleCodingError?
        let sight = try core.engine.lookNear(template, order) { (match) in
            do throws(TupleCodingError) { content = try decode(match.tuple) } catch { failure = error }
        }
        switch sight {
        case .match(let id):
            if let failure { throw SpaceError(failure, of: id) }
            guard let content, let result = try take(id, content) else { return .unknown }
            return .found(result)
        case .nothing: return try core.endedHolders.returnEndedClaims() ? .unknown : .nothing
        case .unknown: return .unknown
        }
    }
}
