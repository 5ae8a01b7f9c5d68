import SpaceSystem

/// Carries out an edit of an ordered set, in a write transaction.
///
/// The disk space was reserved before, and the edit was checked against the same state. So only damage or a disk error
/// makes an edit fail here, and then the transaction is undone.
struct ElementEditor {
    private typealias Chunk = ElementDirectory.Chunk

    /// An element on its way to a new place.
    private struct Item {
        let reference: ElementReference
        /// The element's encoding, if it has no row yet.
        var encoding: ElementBytes?
    }

    private let scope: WriteScope
    private let list: ElementList
    private var directory: ElementDirectory

    init(_ scope: WriteScope, _ list: ElementList) {
        self.scope = scope
        self.list = list
        directory = list.directory
    }

    /// Carries out the edit, and notes the change.
    mutating func apply(_ edit: ElementEdit) throws(SpaceError) {
        // The journal's form contains the old values, so it is made before anything changes.
        let form = scope.isJournaling ? try list.journalForm(of: edit) : nil
        switch edit {
        case .insert(let elements, let index): try insert(elements, at: index)
        case .remove(let indices):
            for reference in try takeOut(indices) { try delete(.element(reference)) }
        case .replace(let index, let new): try replace(index, with: new)
        case .move(let indices, let target):
            let ascending = indices.sorted()
            let references = try takeOut(ascending)
            let places = Dictionary(uniqueKeysWithValues: zip(ascending, references))
            try place(indices.compactMap { places[$0].map { Item(reference: $0) } }, at: target)
        case .exchange(let first, let second): try exchange(first, second)
        case .sort(let order): try sort(order)
        case .several: preconditionFailure("several edits are carried out one by one")
        }
        directory.edits += 1
        try put(.directory, directory.encoded)
        // Without the journal's form the change is reported as a reset. If nothing is journaled, it is not reported at
        // all.
        let kind = form == nil && scope.isJournaling ? .reset : edit.kind
        guard let form else { return try scope.note(kind, name: list.name) }
        try form.withBytes { (form) throws(SpaceError) in try scope.note(kind, name: list.name, new: form) }
    }

    // MARK: Rows

    private func put(_ row: ElementKey.Row, _ bytes: [UInt8]) throws(SpaceError) {
        try scope.elements.put(ElementKey(list.object, row), bytes)
    }

    private func delete(_ row: ElementKey.Row) throws(SpaceError) {
        try scope.elements.delete(ElementKey(list.object, row))
    }

    /// The references of a chunk in its present state; the list's directory knows only the state before the edit.
    private func references(_ chunk: Chunk) throws(SpaceError) -> [ElementReference] { try list.references(of: chunk) }

    /// Writes an element's row, if the element is new or comes into another chunk.
    private func settle(_ item: Item, in chunk: UInt32) throws(SpaceError) {
        if let encoding = item.encoding {
            return try put(.element(item.reference), ElementRow.encode(chunk: chunk, encoding))
        }
        let row = try list.row(item.reference)
        guard row.chunk != chunk else { return }
        try put(.element(item.reference), ElementRow.encode(chunk: chunk, row.content))
    }

    // MARK: Inserting

    private mutating func insert(_ elements: [ElementBytes], at index: Int) throws(SpaceError) {
        var items: [Item] = []
        // New elements with the same hash are not in the table yet, so their references are kept apart here.
        var taken: Set<ElementReference> = []
        for element in elements {
            guard case .absent(var reference) = try list.find(element.identity) else {
                throw .damaged("an element of \(list.name.quotedForPeople) came twice")
            }
            while taken.contains(reference) {
                repeat {
                    reference = ElementReference(hash: reference.hash, number: reference.number + 1)
                } while try scope.snapshot.row(list.object, .element(reference)) != nil
            }
            taken.insert(reference)
            items.append(Item(reference: reference, encoding: element))
        }
        try place(items, at: index)
    }

    /// Inserts elements at an index.
    private mutating func place(_ items: [Item], at index: Int) throws(SpaceError) {
        guard !items.isEmpty else { return }
        directory.count += items.count
        var (position, offset) = directory.place(of: index)
        // Between two chunks, elements go to the end of the first, unless only the second has room.
        if offset == 0, position > 0, !hasRoom(position, items.count) || hasRoom(position - 1, items.count) {
            position -= 1
            offset = directory.chunks[position].count
        }
        guard directory.chunks.indices.contains(position) else {
            directory.chunks = try chunks(of: items)
            return
        }
        let chunk = directory.chunks[position]
        if chunk.count + items.count <= ElementList.chunkSize {
            var references = try references(chunk)
            references.insert(contentsOf: items.map(\.reference), at: offset)
            for item in items { try settle(item, in: chunk.id) }
            try write(references, toChunkAt: position)
        } else if offset == chunk.count {
            // Appended elements get new chunks: full chunks stay behind, and no element moves.
            directory.chunks.insert(contentsOf: try chunks(of: items), at: position + 1)
        } else if offset == 0 {
            // The same holds for elements before the first one.
            directory.chunks.insert(contentsOf: try chunks(of: items), at: position)
        } else {
            try split(position, with: items, at: offset)
        }
    }

    private func hasRoom(_ position: Int, _ count: Int) -> Bool {
        directory.chunks.indices.contains(position)
            && directory.chunks[position].count + count <= ElementList.chunkSize
    }

    private mutating func split(_ position: Int, with items: [Item], at offset: Int) throws(SpaceError) {
        let chunk = directory.chunks[position]
        var all = try references(chunk).map { Item(reference: $0) }
        all.insert(contentsOf: items, at: offset)
        let first = Self.pieces(all.count)[0]
        // Old elements that stay in this chunk need no new row; elements that are new in it do.
        for item in all[..<first].dropFirst(offset).prefix(items.count) { try settle(item, in: chunk.id) }
        try write(all[..<first].map(\.reference), toChunkAt: position)
        directory.chunks.insert(contentsOf: try chunks(of: Array(all[first...])), at: position + 1)
    }

    /// Makes new chunks for elements.
    private mutating func chunks(of items: [Item]) throws(SpaceError) -> [Chunk] {
        var chunks: [Chunk] = []
        var rest = items[...]
        for size in Self.pieces(items.count) {
            let id = directory.nextChunk
            guard id < .max else {
                throw .limitReached(
                    "the ordered set \(list.name.quotedForPeople) has used up the numbers of its chunks",
                    advice: "remove it, and make it again"
                )
            }
            directory.nextChunk += 1
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            for item in piece { try settle(item, in: id) }
            try put(.chunk(id), piece.map(\.reference).encodedChunk)
            chunks.append(Chunk(id: id, count: size))
        }
        return chunks
    }

    /// Sizes of chunks, as even as possible.
    private static func pieces(_ count: Int) -> [Int] {
        let number = (count + ElementList.chunkSize - 1) / ElementList.chunkSize
        return (0..<number).map { (count + $0) / number }
    }

    private mutating func write(_ references: [ElementReference], toChunkAt position: Int) throws(SpaceError) {
        directory.chunks[position].count = references.count
        try put(.chunk(directory.chunks[position].id), references.encodedChunk)
    }

    // MARK: Taking out

    /// Takes references out of their chunks; the elements' rows stay.
    ///
    /// `indices` must be ascending.
    private mutating func takeOut(_ indices: [Int]) throws(SpaceError) -> [ElementReference] {
        var taken: [ElementReference] = []
        var emptied: [Int] = []
        var touched: [Int] = []
        var rest = indices[...]
        var (position, start) = (0, 0)
        while let index = rest.first {
            while index >= start + directory.chunks[position].count {
                start += directory.chunks[position].count
                position += 1
            }
            let chunk = directory.chunks[position]
            let end = start + chunk.count
            let here = rest.prefix { $0 < end }
            rest = rest.dropFirst(here.count)
            var references = try references(chunk)
            for index in here { taken.append(references[index - start]) }
            if here.count == chunk.count {
                try deleteChunk(chunk.id)
                emptied.append(position)
            } else {
                references.remove(ascending: here.map { $0 - start })
                try write(references, toChunkAt: position)
                touched.append(position - emptied.count)
            }
            (position, start) = (position + 1, end)
        }
        directory.chunks.remove(ascending: emptied)
        directory.count -= taken.count
        // This goes from the end, so that the earlier positions stay valid.
        for position in touched.reversed() where directory.chunks[position].count < ElementList.joinBelow {
            if try !join(position, position + 1), position > 0 { _ = try join(position - 1, position) }
        }
        return taken
    }

    private mutating func deleteChunk(_ id: UInt32) throws(SpaceError) {
        try delete(.chunk(id))
        // The id is reused, so that adding and removing in turn does not use up the ids.
        if directory.nextChunk == id + 1 { directory.nextChunk = id }
    }

    /// Joins two neighbouring chunks if the result leaves room for more; the elements of the smaller move into the
    /// larger.
    private mutating func join(_ left: Int, _ right: Int) throws(SpaceError) -> Bool {
        guard right < directory.chunks.count else { return false }
        let (first, second) = (directory.chunks[left], directory.chunks[right])
        guard first.count + second.count <= ElementList.joinUpTo else { return false }
        let (ours, theirs) = (try references(first), try references(second))
        let (stays, goes) = first.count < second.count ? (second, first) : (first, second)
        for reference in first.count < second.count ? ours : theirs {
            try settle(Item(reference: reference), in: stays.id)
        }
        try put(.chunk(stays.id), (ours + theirs).encodedChunk)
        try deleteChunk(goes.id)
        directory.chunks[left] = Chunk(id: stays.id, count: first.count + second.count)
        directory.chunks.remove(at: right)
        return true
    }

    // MARK: Replacing and reordering

    private mutating func replace(_ index: Int, with new: ElementBytes) throws(SpaceError) {
        let (position, offset) = directory.place(of: index)
        let chunk = directory.chunks[position]
        var references = try references(chunk)
        try delete(.element(references[offset]))
        guard case .absent(let reference) = try list.find(new.identity) else {
            throw .damaged("an element of \(list.name.quotedForPeople) came twice")
        }
        references[offset] = reference
        try settle(Item(reference: reference, encoding: new), in: chunk.id)
        try write(references, toChunkAt: position)
    }

    private mutating func exchange(_ first: Int, _ second: Int) throws(SpaceError) {
        let (left, right) = (directory.place(of: first), directory.place(of: second))
        var ours = try references(directory.chunks[left.chunk])
        if left.chunk == right.chunk {
            ours.swapAt(left.offset, right.offset)
            return try write(ours, toChunkAt: left.chunk)
        }
        var theirs = try references(directory.chunks[right.chunk])
        (ours[left.offset], theirs[right.offset]) = (theirs[right.offset], ours[left.offset])
        try settle(Item(reference: ours[left.offset]), in: directory.chunks[left.chunk].id)
        try settle(Item(reference: theirs[right.offset]), in: directory.chunks[right.chunk].id)
        try write(ours, toChunkAt: left.chunk)
        try write(theirs, toChunkAt: right.chunk)
    }

    private mutating func sort(_ order: [Int]) throws(SpaceError) {
        var all: [ElementReference] = []
        all.reserveCapacity(directory.count)
        for chunk in directory.chunks { all += try references(chunk) }
        var start = 0
        for (position, chunk) in directory.chunks.enumerated() {
            let references = order[start..<start + chunk.count].map { all[$0] }
            for reference in references { try settle(Item(reference: reference), in: chunk.id) }
            try write(references, toChunkAt: position)
            start += chunk.count
        }
    }
}
