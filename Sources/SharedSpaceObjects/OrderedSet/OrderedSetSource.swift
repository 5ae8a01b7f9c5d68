/// Turns the changes of an ordered set into its observers' form.
struct OrderedSetSource<Element: Codable & Sendable>: CollectionSource {
    let elements: SharedOrderedSet<Element>
    let options: CollectionObservationOptions

    var name: String { elements.name }
    var namespace: Namespace { elements.namespace }

    func telling(of change: Change) throws(SpaceError) -> FeedStep<CollectionChange<Element>> {
        switch change.kind {
        case .set, .unset:
            // This is a cell whose key looks like that of a dictionary's entry under the set's name.
            return .nothing
        default:
            guard let edit = change.edit else { return .reset }
            let decoded = try edit.map { (value) throws(SpaceError) in try decode(value, change) }
            let edits = options.contains(.movesAsPairs) ? decoded.pairs : [decoded]
            return .told(CollectionChange(.edits(edits), change, of: elements))
        }
    }

    func reset(for change: Change) throws(SpaceError) -> (told: CollectionChange<Element>, sequence: UInt64) {
        let (all, sequence) = try elements.read(0..<Int.max)
        return (CollectionChange(.reset(all), change, of: elements, sequence: sequence), sequence)
    }

    func checkIsThere() throws(SpaceError) {
        _ = try elements.read { (list) throws(SpaceError) in list.count }
    }

    func end(with change: Change) -> CollectionChange<Element> { CollectionChange(.removed, change, of: elements) }

    private func decode(_ value: Value, _ change: Change) throws(SpaceError) -> Element {
        try value.content("an element in change \(change.sequence) of \(name.quotedForPeople)")
    }
}
