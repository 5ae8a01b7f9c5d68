/// A choice of changes in words, as the options of `space watch` and the C library give it.
package struct ChangeChoice {
    package var tuples: Template?
    /// A cell, or with a path a part of its value.
    package var key: String?
    /// A pattern for the names of cells.
    package var keys: String?
    package var allKeys = false
    package var post: String?
    /// A pattern for the names of notifications.
    package var posts: String?
    /// The process that posts the notifications.
    package var pid: Int32?
    package var collection: String?
    package var responder: String?
    package var object: String?
    package var events: Set<ChangeKind>?

    package init() {}

    /// Whether one of the words names what is wanted.
    private var namesSome: Bool {
        key != nil || keys != nil || allKeys || post != nil || posts != nil || pid != nil || collection != nil
            || responder != nil || object != nil
    }

    /// The filter that the words describe.
    ///
    /// If `events` names an event, the filter lets through all changes of that event's sort (of cells, for example),
    /// unless another property chooses some of them.
    package var filter: ChangeFilter {
        if tuples == nil, !namesSome {
            var filter = ChangeFilter.everything
            filter.kinds = events
            return filter
        }
        func isNamed(_ sort: Set<ChangeKind>) -> Bool { events.map { !$0.isDisjoint(with: sort) } ?? false }
        let ofCells: Set<ChangeKind> = [.set, .unset]
        let ofOthers: Set<ChangeKind> = [.post, .gap, .gone, .respond]
        let ofCollections = Set(ChangeKind.allCases.filter(\.isOfCollection))
        let ofObjects = Set(ChangeKind.allCases.filter(\.isOfObject))
        let ofTuples = [ofCells, ofOthers, ofCollections, ofObjects].reduce(Set(ChangeKind.allCases)) {
            $0.subtracting($1)
        }
        return ChangeFilter(
            tuples: tuples ?? (isNamed(ofTuples) ? .any : nil),
            // A dictionary's entries are cells: if a collection is named, an event of cells does not mean all cells.
            cells: key.map { .key($0) } ?? keys.map { .matching($0) }
                ?? (allKeys || collection == nil && isNamed(ofCells) ? .all : .none),
            notifications: pid.map { .sent(by: PostSender(pid: $0), named: post) } ?? post.map { .named($0) }
                ?? posts.map { .matching($0) } ?? (isNamed([.post]) ? .all : .none),
            collections: collection.map { .named($0) } ?? (isNamed(ofCollections) ? .all : .none),
            responders: responder.map { .named($0) } ?? (isNamed([.respond]) ? .all : .none),
            objects: object.map { .named($0) } ?? (isNamed(ofObjects) ? .all : .none),
            kinds: events
        )
    }
}
