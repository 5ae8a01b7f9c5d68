import LMDB
import SpaceSystem
import TupleCoding

/// Edits of an ordered set: each is planned against the state that it changes, under the gate, and carried out in the same
/// transaction.
extension NamespaceCore {
    /// Changes what `plan` finds is to be changed.
    ///
    /// `plan`: Checks what is wanted against the elements; without an edit nothing changes. It may run more than once.
    package func edit<R>(
        _ operation: String,
        _ name: String,
        _ number: UInt64,
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        // How much room it takes is known only with the plan.
        try write(operation, DiskReserve.Demand.none) { (scope) throws(SpaceError) in
            let list = try scope.snapshot.elementList(name, number)
            let (edit, result) = try plan(list)
            guard let edit else { return result }
            try carryOut(edit, on: list, in: scope)
            return result
        }
    }

    /// Makes room for an edit, with all that the transaction has done, and carries it out.
    package func carryOut(_ edit: ElementEdit, on list: ElementList, in scope: WriteScope) throws(SpaceError) {
        scope.demand = scope.demand + (try list.checkedDemand(of: edit, isJournaling: scope.isJournaling))
        do throws(SpaceError) {
            try engine.ensureRoom(scope.demand)
        } catch {
            throw error.within(scope.operation, namespace: scope.namespace)
        }
        var editor = ElementEditor(scope, list)
        try editor.apply(edit)
    }
}

extension TransactionState {
    /// The same as a part of a transaction; a plan that is refused leaves the transaction as it was.
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
    /// What an edit demands, if it is one that may be made at all.
    ///
    /// Throws: `tooLarge`, `limitReached`.
    fileprivate func checkedDemand(of edit: ElementEdit, isJournaling: Bool) throws(SpaceError) -> DiskReserve.Demand {
        if case .insert(let elements, _) = edit {
            let bytes = elements.reduce(0) { $0 + $1.count }
            guard bytes <= Limits.valueBytes else {
                throw SpaceError(
                    .tooLarge,
                    snapshot.operation,
                    namespace: snapshot.namespace,
                    reason: "\(elements.count) elements with \(bytes) bytes are more than one edit may bring",
                    advice: "\(Limits.valueBytes) bytes are the limit: do it in parts"
                )
            }
            guard count + elements.count <= Limits.orderedSetElements else {
                throw SpaceError(
                    .limitReached,
                    snapshot.operation,
                    namespace: snapshot.namespace,
                    reason: "\(name.quotedForPeople) would have \(count + elements.count) elements",
                    advice: "\(Limits.orderedSetElements) are the limit: remove some, or use several sets"
                )
            }
        }
        return try demand(of: edit, isJournaling: isJournaling)
    }
}

extension WriteScope {
    /// Makes an ordered set, empty.
    ///
    /// Returns: Its number.
    package func makeOrderedSet(_ name: String, details: Value) throws(SpaceError) -> UInt64 {
        let number = try makeObject(name, .orderedSet, details: details)
        let directory = ElementDirectory().encoded
        try lmdb { () throws(LMDBError) in
            try ElementKey(number, .directory).withBytes { (key) throws(LMDBError) in
                try directory.withBytes { (value) throws(LMDBError) in try access.put(tables.elements, key, value) }
            }
        }
        return number
    }

    /// Removes an ordered set with all that it holds.
    func removeOrderedSet(_ name: String, _ number: UInt64) throws(SpaceError) {
        var cursor = try lmdb { () throws(LMDBError) in try access.cursor(tables.elements) }
        var entry = try snapshot.step(&cursor) { (cursor) throws(LMDBError) in try cursor.seek(number, .atLeast) }
        while let found = entry, found.key.count > 8, found.key.big(0, UInt64.self) == number {
            entry = try snapshot.step(&cursor) { (cursor) throws(LMDBError) in
                try cursor.delete()
                return try cursor.next()
            }
        }
        try removeObject(name)
        try note(.discard, name: name)
    }
}

extension Snapshot {
    /// How many rows of `elements` an object has at most.
    func elementRows(_ number: UInt64) throws(SpaceError) -> Int {
        // Also of one that is damaged.
        let directory = try row(number, .directory).flatMap(ElementDirectory.init)
        if let directory { return directory.count + directory.chunks.count + 1 }
        return try lmdb { () throws(LMDBError) in try access.statistics(tables.elements).entries }
    }
}
