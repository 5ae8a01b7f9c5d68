import TupleCoding

/// Edits of an ordered set: under the gate, each is planned against the state that it changes, and carried out in the
/// same transaction.
extension NamespaceCore {
    /// Plans an edit and carries it out.
    ///
    /// `plan` checks the wanted edit against the elements; if it returns no edit, nothing changes. It may run more than
    /// once.
    package func edit<R>(
        _ operation: String,
        _ name: String,
        _ number: UInt64,
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        // The disk space that the edit needs is known only once it is planned.
        try write(operation, DiskReserve.Demand.none) { (scope) throws(SpaceError) in
            let list = try scope.snapshot.elementList(name, number)
            let (edit, result) = try plan(list)
            guard let edit else { return result }
            try carryOut(edit, on: list, in: scope)
            return result
        }
    }

    /// Reserves the disk space for an edit and for all that the transaction has done, and carries the edit out.
    package func carryOut(_ edit: ElementEdit, on list: ElementList, in scope: WriteScope) throws(SpaceError) {
        scope.demand = scope.demand + (try list.checkedDemand(of: edit, isJournaling: scope.isJournaling))
        try engine.ensureRoom(scope.demand)
        var editor = ElementEditor(scope, list)
        try editor.apply(edit)
    }
}

extension TransactionState {
    /// Plans and carries out an edit as part of a transaction; if the plan throws, the transaction stays as it was.
    package func edit<R>(
        _ name: String,
        _ number: UInt64,
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        let (edit, result, demand) = try look {
            (scope) throws(SpaceError) -> (ElementEdit?, R, DiskReserve.Demand) in
            let list = try scope.snapshot.elementList(name, number)
            let (edit, result) = try plan(list)
            let demand = try edit.map { (edit) throws(SpaceError) in
                try list.checkedDemand(of: edit, isJournaling: scope.isJournaling)
            }
            return (edit, result, demand ?? DiskReserve.Demand.none)
        }
        guard let edit else { return result }
        try change(demand) { (scope) throws(SpaceError) in
            var editor = ElementEditor(scope, try scope.snapshot.elementList(name, number))
            try editor.apply(edit)
        }
        return result
    }
}

extension ElementList {
    /// The disk space that an edit may need; throws `tooLarge` or `limitReached` if the edit exceeds a limit.
    fileprivate func checkedDemand(of edit: ElementEdit, isJournaling: Bool) throws(SpaceError) -> DiskReserve.Demand {
        if case .insert(let elements, _) = edit {
            let bytes = elements.reduce(0) { $0 + $1.count }
            guard bytes <= Limits.valueBytes else {
                throw SpaceError(
                    .tooLarge,
                    reason: "\(elements.count) elements with \(bytes) bytes are more than one edit may bring",
                    advice: "\(Limits.valueBytes) bytes are the limit: do it in parts"
                )
            }
            guard count + elements.count <= Limits.orderedSetElements else {
                throw SpaceError(
                    .limitReached,
                    reason: "\(name.quotedForPeople) would have \(count + elements.count) elements",
                    advice: "\(Limits.orderedSetElements) are the limit: remove some, or use several sets"
                )
            }
        }
        return try demand(of: edit, isJournaling: isJournaling)
    }
}

extension WriteScope {
    /// Makes an empty ordered set, and returns its number.
    package func makeOrderedSet(_ name: String, details: Value) throws(SpaceError) -> UInt64 {
        let number = try makeObject(name, .orderedSet, details: details)
        try elements.put(ElementKey(number, .directory), ElementDirectory().encoded)
        return number
    }

    /// Removes an ordered set with all its rows.
    func removeOrderedSet(_ name: String, _ number: UInt64) throws(SpaceError) {
        var rows = try elementsByBytes.scan(prefix: number.bigEndianBytes)
        while try rows.nextBytes() != nil { try rows.delete() }
        try removeObject(name)
        try note(.discard, name: name)
    }
}

extension Snapshot {
    /// The greatest number of rows that an object can have in `elements`.
    func elementRows(_ number: UInt64) throws(SpaceError) -> Int {
        // If the directory is damaged, the size of the whole table is the bound.
        let directory = try row(number, .directory).flatMap(ElementDirectory.init)
        if let directory { return directory.count + directory.chunks.count + 1 }
        return try elements.count
    }
}
