// Edits, checked against the elements before anything changes.

extension ElementList {
    /// Throws `invalidArgument` for an index without an element, or, for an insertion, beyond the end.
    package func check(_ index: Int, isInsertion: Bool) throws(SpaceError) {
        guard index >= 0, isInsertion ? index <= count : index < count else {
            throw refused("index \(index) is out of range: \(name.quotedForPeople) has \(count) elements")
        }
    }

    package func refused(_ reason: String) -> SpaceError {
        .misuse(reason, advice: "nothing was changed; look again, since others may have edited it")
    }

    /// The elements that are not in the set, each once, in their order.
    package func absent(_ elements: [ElementBytes]) throws(SpaceError) -> [ElementBytes] {
        var seen: Set<[UInt8]> = []
        var absent: [ElementBytes] = []
        for element in elements where seen.insert(element.identity).inserted {
            if try !contains(element.identity) { absent.append(element) }
        }
        return absent
    }

    /// The edit that inserts those elements that are not in the set, in their order, and how many these are.
    ///
    /// In a set with keys, an element whose key is in the set replaces the element with that key; of several elements
    /// with one key the last one counts.
    package func insertion(of elements: [ElementBytes], at index: Int) throws(SpaceError) -> (ElementEdit?, Int) {
        guard directory.isKeyed else {
            let new = try absent(elements)
            return (new.isEmpty ? nil : .insert(new, at: index), new.count)
        }
        var latest: [[UInt8]: ElementBytes] = [:]
        for element in elements { latest[element.identity] = element }
        var new: [ElementBytes] = []
        var edits: [ElementEdit] = []
        for element in elements {
            guard let element = latest.removeValue(forKey: element.identity) else { continue }
            if let present = try self.index(of: element.identity) {
                if let edit = try replacement(at: present, element).edit { edits.append(edit) }
            } else {
                new.append(element)
            }
        }
        if !new.isEmpty { edits.append(.insert(new, at: index)) }
        return (ElementEdit.several(edits).simple, new.count)
    }

    /// Throws `invalidArgument` if an element is given twice, or is in the set at an index that is not replaced.
    package func checkNew(_ elements: [ElementBytes], replacing replaced: Set<Int>) throws(SpaceError) {
        guard Set(elements.map(\.identity)).count == elements.count else {
            throw refused("an element is given twice")
        }
        for element in elements {
            if let other = try index(of: element.identity), !replaced.contains(other) {
                throw refused("an element to add is in \(name.quotedForPeople) already, at index \(other)")
            }
        }
    }

    /// The edits that replace the elements at several indices, or `nil` if they are the same.
    package func replacement(at indices: [Int], _ elements: [ElementBytes]) throws(SpaceError) -> ElementEdit? {
        for index in indices { try check(index, isInsertion: false) }
        let replaced = Set(indices)
        guard replaced.count == indices.count, indices.count == elements.count else {
            throw refused("\(elements.count) elements can't replace those at \(indices.count) indices, each once")
        }
        try checkNew(elements, replacing: replaced)
        var edits: [ElementEdit] = []
        for (index, element) in zip(indices, elements) {
            let old = try self.index(of: element.identity)
            guard old == nil || old == index else {
                // A new element may come from another index, so all old elements are removed before any new one is
                // inserted.
                let sorted = zip(indices, elements).sorted { $0.0 < $1.0 }
                let insertion = try insertions(of: sorted.map(\.1), at: sorted.map(\.0), count: count - indices.count)
                guard let insertion else { return nil }
                return .several([.remove(sorted.map(\.0)), insertion])
            }
            if try self.element(at: index) != element.encoded { edits.append(.replace(index, with: element)) }
        }
        return ElementEdit.several(edits).simple
    }

    /// The edits that bring each element to its index, or `nil` if there are none; the set has `count` elements.
    package func insertions(of elements: [ElementBytes], at indices: [Int], count: Int) throws(SpaceError)
        -> ElementEdit?
    {
        guard Set(indices).count == indices.count, indices.count == elements.count else {
            throw refused("\(elements.count) elements can't stand at \(indices.count) indices, each at its own")
        }
        var edits: [ElementEdit] = []
        var (start, run): (Int, [ElementBytes]) = (0, [])
        for (place, (index, element)) in zip(indices, elements).sorted(by: { $0.0 < $1.0 }).enumerated() {
            guard index >= 0, index <= count + place else {
                throw refused("index \(index) is out of range: \(count + place) elements would stand before it")
            }
            if !run.isEmpty, index != start + run.count {
                edits.append(.insert(run, at: start))
                run = []
            }
            if run.isEmpty { start = index }
            run.append(element)
        }
        if !run.isEmpty { edits.append(.insert(run, at: start)) }
        return ElementEdit.several(edits).simple
    }

    /// The edit that replaces an element, and the element that was there.
    package func replacement(at index: Int, _ new: ElementBytes) throws(SpaceError) -> (
        edit: ElementEdit?, result: [UInt8]
    ) {
        let old = try element(at: index)
        if old == new.encoded { return (nil, old) }
        if let other = try self.index(of: new.identity), other != index {
            throw refused("the new element is in \(name.quotedForPeople) already, at index \(other)")
        }
        return (.replace(index, with: new), old)
    }

    package func exchange(_ first: Int, _ second: Int) -> (edit: ElementEdit?, result: Void) {
        (first == second ? nil : .exchange(min(first, second), max(first, second)), ())
    }

    /// The edit that moves elements; `indices` gives their new order.
    package func move(_ indices: [Int], to target: Int) throws(SpaceError) -> ElementEdit? {
        guard (0...count - indices.count).contains(target) else {
            throw refused(
                "\(indices.count) elements of \(count) can't be moved to index \(target): the first of them would stand "
                    + "behind the end"
            )
        }
        guard !indices.isEmpty, indices != Array(target..<target + indices.count) else { return nil }
        return .move(indices, to: target)
    }
}
