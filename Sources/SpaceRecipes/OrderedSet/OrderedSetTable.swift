/// The rows of ordered sets, in a write transaction.
package struct OrderedSetTable {
    let scope: WriteScope

    /// Checks an edit and carries it out.
    package func carryOut(_ edit: ElementEdit, on list: ElementList) throws(SpaceError) {
        try list.check(edit)
        scope.meter.use(edit.purpose)
        try apply(edit, to: list)
    }

    private func apply(_ edit: ElementEdit, to list: ElementList) throws(SpaceError) {
        guard case .several(let edits) = edit else {
            var editor = ElementEditor(scope, list)
            return try editor.apply(edit)
        }
        // Each edit is applied to what the edits before it have left.
        for edit in edits { try apply(edit, to: try scope.snapshot.elementList(list.name, list.object)) }
    }

    /// Makes an empty ordered set, and returns its number.
    package func make(_ name: String, details: Value) throws(SpaceError) -> UInt64 {
        let number = try scope.places.makeObject(name, .orderedSet, details: details)
        let directory = ElementDirectory(isKeyed: CollectionDetails(details)?.keyType != nil)
        try scope.elements.put(ElementKey(number, .directory), directory.encoded)
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
            let list = try scope.snapshot.elementList(name, number)
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
    package func remove(_ name: String, _ number: UInt64) throws(SpaceError) {
        var rows = try scope.elementsByBytes.scan(prefix: number.bigEndianBytes)
        while try rows.nextBytes() != nil { try rows.delete() }
        try scope.objects.remove(name)
        try scope.note(.discard, name: name)
    }
}

extension WriteScope {
    /// The ordered sets of the namespace.
    package var orderedSets: OrderedSetTable { OrderedSetTable(scope: self) }
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
    func check(_ edit: ElementEdit) throws(SpaceError) {
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
