import SpaceSystem
import TupleCoding

/// What a take does with the match that it has found: it removes it, or claims it.
protocol Removal {
    associatedtype Result

    /// Ends the visibility of a tuple of the near end; `nil` if that can't be done there.
    func endNear(_ id: TupleID, in core: NamespaceCore) throws(SpaceError) -> Result?

    /// Ends the visibility of a tuple; it adds no tuple.
    func end(_ id: UInt64, _ row: TupleRow, in scope: WriteScope, of core: NamespaceCore) throws(SpaceError) -> Result

    /// The removal of the first of several tuples, as data.
    func action(_ ids: [UInt64], in core: NamespaceCore) -> SentOperation.Action

    /// The place of the tuple in the list, and the result, by what the daemon says; `nil` if it says something else.
    func result(of sent: SentResult) -> (index: Int, result: Result)?
}

/// The removal that takes a tuple.
struct Taking: Removal {
    @inline(__always)
    func endNear(_ id: TupleID, in core: NamespaceCore) throws(SpaceError) -> Void? {
        try core.takeNear(id) ? () : nil
    }

    @inline(__always)
    func end(_ id: UInt64, _ row: TupleRow, in scope: WriteScope, of core: NamespaceCore) throws(SpaceError) {
        try scope.remove(id, row)
    }

    func action(_ ids: [UInt64], in core: NamespaceCore) -> SentOperation.Action { .take(ids) }

    func result(of sent: SentResult) -> (index: Int, result: Void)? {
        if case .took(let index) = sent { (index, ()) } else { nil }
    }
}
