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
        case .several(let edits): edits.contains { $0.purpose == .adding } ? .adding : .removing
        }
    }
}

extension ElementEdit {
    /// Adds up the bytes of the elements that the edit brings, and by how many elements the set grows.
    fileprivate func count(_ bytes: inout Int, _ change: inout Int) {
        switch self {
        case .insert(let elements, _):
            bytes += elements.reduce(0) { $0 + $1.size }
            change += elements.count
        case .replace(_, let new): bytes += new.size
        case .remove(let indices): change -= indices.count
        case .several(let edits): for edit in edits { edit.count(&bytes, &change) }
        case .move, .exchange, .sort: break
        }
    }
}

extension ElementList {
    /// Throws `tooLarge` or `limitReached` if an edit exceeds a limit.
    fileprivate func check(_ edit: ElementEdit) throws(SpaceError) {
        var (bytes, change) = (0, 0)
        edit.count(&bytes, &change)
        guard bytes <= Limits.valueBytes else {
            throw SpaceError(
                .tooLarge,
                reason: "elements with \(bytes) bytes are more than one edit may bring",
                advice: "\(Limits.valueBytes) bytes are the limit: do it in parts"
            )
        }
        guard change <= 0 || count + change <= Limits.orderedSetElements else {
            throw .limitReached(
                "\(name.quotedForPeople) would have \(count + change) elements",
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
        try apply(edit, to: list)
    }

    private func apply(_ edit: ElementEdit, to list: ElementList) throws(SpaceError) {
        guard case .several(let edits) = edit else {
            var editor = ElementEditor(self, list)
            return try editor.apply(edit)
        }
        // Each edit is applied to what the edits before it have left.
        for edit in edits { try apply(edit, to: try snapshot.elementList(list.name, list.object)) }
    }

    /// Makes an empty ordered set, and returns its number.
    package func makeOrderedSet(_ name: String, details: Value) throws(SpaceError) -> UInt64 {
        let number = try makeObject(name, .orderedSet, details: details)
        let directory = ElementDirectory(isKeyed: CollectionDetails(details)?.keyType != nil)
        try elements.put(ElementKey(number, .directory), directory.encoded)
        return number
    }

    /// Adds those elements to a set that are not in it yet, at its end, in parts that are each as large as one edit may
    /// be.
    package func fill(
        _ name: String,
        _ number: UInt64,
        with elements: some Sequence<ElementBytes>
    ) throws(SpaceError) {
        var part: [ElementBytes] = []
        var bytes = 0
        func insert() throws(SpaceError) {
            let list = try snapshot.elementList(name, number)
            let new = try list.absent(part)
            if !new.isEmpty { try carryOut(.insert(new, at: list.count), on: list) }
            (part, bytes) = ([], 0)
        }
        for element in elements {
            part.append(element)
            bytes += element.size
            if part.count >= 4096 || bytes >= 1 << 20 { try insert() }
        }
        try insert()
    }

    /// Removes an ordered set with all its rows.
    package func removeOrderedSet(_ name: String, _ number: UInt64) throws(SpaceError) {
        var rows = try elementsByBytes.scan(prefix: number.bigEndianBytes)
        while try rows.nextBytes() != nil { try rows.delete() }
        try removeObject(name)
        try note(.discard, name: name)
    }
}
