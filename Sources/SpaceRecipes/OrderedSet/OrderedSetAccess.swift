/// Edits of an ordered set: under the gate, each is planned against the state that it changes, and carried out in the
/// same transaction.
package struct OrderedSetAccess {
    let core: NamespaceCore

    /// Plans an edit and carries it out.
    ///
    /// `plan` checks the wanted edit against the elements; if it returns no edit, nothing changes. It may run more than
    /// once.
    package func edit<R>(
        _ name: String,
        _ number: UInt64,
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        try core.write(.removing) { (scope) throws(SpaceError) in
            let list = try scope.snapshot.elementList(name, number)
            let (edit, result) = try plan(list)
            guard let edit else { return result }
            try scope.orderedSets.carryOut(edit, on: list)
            return result
        }
    }
}

extension NamespaceCore {
    /// The edits of ordered sets.
    package var orderedSets: OrderedSetAccess { OrderedSetAccess(core: self) }
}

extension TransactionState {
    /// Plans and carries out an edit as part of a transaction; if the plan throws, the transaction stays as it was.
    package func edit<R>(
        _ name: String,
        _ number: UInt64,
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        let (edit, result, bytes) = try read { (scope) throws(SpaceError) -> (ElementEdit?, R, Int) in
            let list = try scope.snapshot.elementList(name, number)
            let (edit, result) = try plan(list)
            guard let edit else { return (nil, result, 0) }
            try list.check(edit)
            return (edit, result, try list.size(of: edit))
        }
        guard let edit else { return result }
        try change(edit.purpose, bytes: bytes) { (scope) throws(SpaceError) in
            try scope.orderedSets.carryOut(edit, on: try scope.snapshot.elementList(name, number))
        }
        return result
    }
}

extension ElementEdit {
    /// Only an edit that brings elements adds to the set.
    var purpose: WritePurpose {
        switch self {
        case .insert, .replace: .adding
        case .remove, .move, .exchange, .sort: .removing
        case .several(let edits): edits.contains { $0.purpose == .adding } ? .adding : .removing
        }
    }
}
