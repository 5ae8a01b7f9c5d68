import TupleCoding

/// Edits of an ordered set: under the gate, each is planned against the state that it changes, and carried out in the
/// same transaction.
extension NamespaceCore {
    /// Plans an edit and carries it out.
    ///
    /// `plan` checks the wanted edit against the elements; if it returns no edit, nothing changes. It may run more than
    /// once.
    package func edit<R>(
        _ name: String,
        _ number: UInt64,
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        try write(.removing) { (scope) throws(SpaceError) in
            let list = try scope.snapshot.elementList(name, number)
            let (edit, result) = try plan(list)
            guard let edit else { return result }
            try scope.carryOut(edit, on: list)
            return result
        }
    }
}

extension TransactionState {
    /// Plans and carries out an edit as part of a transaction; if the plan throws, the transaction stays as it was.
    package func edit<R>(
        _ name: String,
        _ number: UInt64,
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        let (edit, result, bytes) = try look { (scope) throws(SpaceError) -> (ElementEdit?, R, Int) in
            let list = try scope.snapshot.elementList(name, number)
            let (edit, result) = try plan(list)
            guard let edit else { return (nil, result, 0) }
            try list.check(edit)
            return (edit, result, try list.size(of: edit))
        }
        guard let edit else { return result }
        try change(edit.purpose, bytes: bytes) { (scope) throws(SpaceError) in
            try scope.carryOut(edit, on: try scope.snapshot.elementList(name, number))
        }
        return result
    }
}

extension ElementEdit {
    /// Only an edit that brings elements adds to the set.
    fileprivate var purpose: WritePurpose {
        switch self {
        case .insert, .replace: .adding
        case .remove, .move, .exchange, .sort: .removing
        }
    }
}

extension ElementList {
    /// Throws `tooLarge` or `limitReached` if an edit exceeds a limit.
    fileprivate func check(_ edit: ElementEdit) throws(SpaceError) {
        guard case .insert(let elements, _) = edit else { return }
        let bytes = elements.reduce(0) { $0 + $1.count }
        guard bytes <= Limits.valueBytes else {
            throw SpaceError(
                .tooLarge,
                reason: "\(elements.count) elements with \(bytes) bytes are more than one edit may bring",
                advice: "\(Limits.valueBytes) bytes are the limit: do it in parts"
            )
        }
        guard count + elements.count <= Limits.orderedSetElements else {
            throw .limitReached(
                "\(name.quotedForPeople) would have \(count + elements.count) elements",
                advice: "\(Limits.orderedSetElements) are the limit: remove some, or use several sets"
            )
        }
    }
}

extension WriteScope {
    /// Checks an edit and carries it out.
    package func carryOut(_ edit: ElementEdit, on list: ElementList) throws(SpaceError) {
        try list.check(edit)
        meter.use(edit.purpose)
        var editor = ElementEditor(self, list)
        try editor.apply(edit)
    }

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
