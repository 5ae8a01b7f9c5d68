import SpaceSystem
import TupleCoding

/// The removal that claims a tuple.
struct Claiming: Removal {
    let terms: ClaimTerms

    @inline(__always)
    func endNear(_ id: TupleID, in core: NamespaceCore) throws(SpaceError) -> ClaimMade? {
        if core.deferred.isDue { core.carryOutDeferred() }
        return try core.engine.claimNear(id.rawValue, terms)
    }

    @inline(__always)
    func end(
        _ id: UInt64,
        _ row: TupleRow,
        in scope: WriteScope,
        of core: NamespaceCore
    ) throws(SpaceError) -> ClaimMade { try scope.claim(id, row, core.renewed(terms)) }

    func action(_ ids: [UInt64], in core: NamespaceCore) -> SentOperation.Action {
        let terms = core.renewed(terms)
        return .claim(ids, holder: terms.holder.raw, deadline: terms.deadline, isTake: terms.isTake)
    }

    func result(of sent: SentResult) -> (index: Int, result: ClaimMade)? {
        guard case .claimed(let index, let number, let deliveries) = sent else { return nil }
        return (index, ClaimMade(number: number, deliveries: deliveries))
    }
}
