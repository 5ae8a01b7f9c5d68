/// An index that finds the observers that a change may concern, without evaluating every filter.
///
/// Observers of cells are found by the first component of the key, of notifications and collections by the name, and
/// of tuples by the hash of the fields that their templates bind. If a change concerns one of a thousand observers,
/// it costs little more than with that one observer. Observers that have no such key (any tuple, all cells) are
/// evaluated one by one.
struct ObserverIndex: Sendable {
    private typealias List = [Observer]

    private var keys: [Name: List] = [:]
    private var posts: [Name: List] = [:]
    /// Lists by the fields that a template binds, then by the hash of their values.
    private var templates: [UInt64: [UInt64: List]] = [:]
    private var collections = NamedLists()
    private var responders = NamedLists()
    private var objects = NamedLists()
    private var everyCell: List = []
    private var everyPost: List = []
    private var everyTuple: List = []

    private static func firstComponent(_ key: some Collection<UInt8>) -> Name {
        Name(utf8: key.prefix { $0 != UInt8(ascii: ".") })
    }

    /// Whether an observer is in one of the lists that a cell's key leads to.
    private static func isFound(_ observer: Observer, byKey key: UnsafeRawBufferPointer) -> Bool {
        switch observer.filter.cells {
        case .none: false
        case .all: true
        case .key(let path): firstComponent(path.utf8) == firstComponent(key)
        case .prefix, .range, .matching: true
        }
    }

    mutating func insert(_ observer: Observer) { update(observer) { $0.append(observer) } }

    mutating func remove(_ observer: Observer) { update(observer) { $0.removeAll { $0 === observer } } }

    /// Changes every list that an observer belongs to.
    private mutating func update(_ observer: Observer, _ change: (inout List) -> Void) {
        func update<Key: Hashable>(_ lists: inout [Key: List], _ key: Key) {
            change(&lists[key, default: []])
            if lists[key]?.isEmpty ?? false { lists[key] = nil }
        }
        let filter = observer.filter
        switch filter.cells {
        case .none: break
        case .all, .prefix, .range, .matching: change(&everyCell)
        case .key(let path): update(&keys, Self.firstComponent(path.utf8))
        }
        switch filter.notifications {
        case .none: break
        case .all, .matching: change(&everyPost)
        case .named(let name), .sent(_, named: let name?): update(&posts, Name(name))
        case .sent(_, named: nil): change(&everyPost)
        }
        collections.update(filter.collections, change)
        responders.update(filter.responders, change)
        objects.update(filter.objects, change)
        guard let template = filter.tuples else { return }
        let interest = Interest(template.form, isTaking: false)
        guard interest.isHashed else { return change(&everyTuple) }
        update(&templates[interest.selector, default: [:]], interest.hash)
        if templates[interest.selector]?.isEmpty ?? false { templates[interest.selector] = nil }
    }

    /// Calls `body` for each observer that a row may concern.
    func forEachCandidate(of row: JournalRow, _ body: (Observer) -> Void) {
        switch row.kind {
        case .set, .unset:
            everyCell.forEach(body)
            if !keys.isEmpty { keys[Self.firstComponent(row.name)]?.forEach(body) }
            guard collections.hasNames, let name = row.dictionary else { return }
            for observer in collections.named(name) where !Self.isFound(observer, byKey: row.name) {
                body(observer)
            }
        case .post:
            everyPost.forEach(body)
            if !posts.isEmpty { posts[Name(utf8: row.name)]?.forEach(body) }
        case .respond: responders.forEach(row.name, body)
        case .deadlock: objects.forEachOfAll(body)
        case let kind where kind.isOfObject: objects.forEach(row.name, body)
        case let kind where kind.isOfCollection: collections.forEach(row.name, body)
        default:
            everyTuple.forEach(body)
            guard !templates.isEmpty, let tuple = row.tuple else { return }
            for (selector, lists) in templates {
                Interest(selector: selector, hash: 0).forEachHash(of: tuple) { lists[$0]?.forEach(body) }
            }
        }
    }
}

extension Interest {
    /// The hashes under which an interest of this kind may look for a tuple: one for fields, one for each pair of a
    /// record.
    fileprivate func forEachHash(of tuple: EncodedTuple, _ body: (UInt64) -> Void) {
        switch form {
        case .fields:
            if let hash = tuple.hash(of: .fields(arity: arity, bound: mask)) { body(hash) }
        case .record:
            var seen: [UInt64] = []
            tuple.forEachPairHash { hash in
                guard !seen.contains(hash) else { return }
                seen.append(hash)
                body(hash)
            }
        default: break
        }
    }
}

/// Observers of things that have names: of one, or of all.
private struct NamedLists {
    private var lists: [Name: [Observer]] = [:]
    private var every: [Observer] = []

    var hasNames: Bool { !lists.isEmpty }

    mutating func update(_ choice: ChangeFilter.Names, _ change: (inout [Observer]) -> Void) {
        switch choice {
        case .none: break
        case .all: change(&every)
        case .named(let name):
            change(&lists[Name(name), default: []])
            if lists[Name(name)]?.isEmpty ?? false { lists[Name(name)] = nil }
        }
    }

    func named(_ name: some Collection<UInt8>) -> [Observer] { lists[Name(utf8: name)] ?? [] }

    /// Calls `body` for each observer, whatever it is of.
    func forEachOfAll(_ body: (Observer) -> Void) {
        every.forEach(body)
        for list in lists.values { list.forEach(body) }
    }

    func forEach(_ name: UnsafeRawBufferPointer, _ body: (Observer) -> Void) {
        every.forEach(body)
        if hasNames { named(name).forEach(body) }
    }
}
