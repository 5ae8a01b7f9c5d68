import Glibc
import SeededRandom
import SharedSpaceObjects
import SpaceSystem

/// One life of an editor: it edits the ordered set by every operation there is, and is killed on the way.
struct CollectionsEditor {
    let ledger: CollectionsLedger
    let editor: Int
    let plant: Options.Plant?

    /// The number of elements that the editors keep the ordered set near: chunks are split and joined on the way.
    private static let size = 400

    func live(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let set = try namespace.orderedSet(CollectionsLedger.name, of: Int.self)
        for _ in 0..<Int.random(in: 20...400, using: &generator) where ledger.stop.load() == 0 {
            let count = try set.count
            let start = count == 0 ? 0 : Int.random(in: 0..<count, using: &generator)
            let present = try set.elements(in: start..<start + Int.random(in: 1...8, using: &generator))
            let kinds: [CollectionsLedger.Kind] =
                present.count < 2 || count < Self.size / 4
                ? [.insert]
                : [
                    .insert, .remove, count > Self.size ? .subtract : .insert, .replace, .move, .move, .exchange,
                    .renew,
                ]
            var kind = kinds[Int.random(in: kinds.indices, using: &generator)]
            if Int.random(in: 0..<100, using: &generator) == 0 { kind = .sort }
            try edit(set, kind, present, count, &generator)
        }
    }

    private func edit(
        _ set: SharedOrderedSet<Int>,
        _ kind: CollectionsLedger.Kind,
        _ present: [Int],
        _ count: Int,
        _ generator: inout SeededGenerator
    ) throws {
        let way = Int.random(in: 0..<4, using: &generator)
        let first = present.first ?? 0
        switch kind {
        case .insert:
            let new = ledger.newElements(way == 3 ? 8 : 1)
            try note(kind, new) {
                switch way {
                case 0 where first > 0: try set.insert(new[0], before: first).inserted ? .made : .nothing
                case 1 where first > 0: try set.insert(new[0], after: first).inserted ? .made : .nothing
                case 3: try set.insert(contentsOf: new, at: count / 2) == new.count ? .made : .nothing
                default: try set.append(new[0]).inserted ? .made : .nothing
                }
            }
        case .remove: try note(kind, [first]) { try set.remove(first) == nil ? .nothing : .made }
        case .subtract:
            try note(kind, present) {
                let removed = try set.subtract(present)
                return removed == 0 ? .nothing : removed == present.count ? .made : .perhaps
            }
        case .replace:
            let new = ledger.newElements(1)[0]
            try note(kind, [first, new]) {
                try set.replace(first, with: new)
                return .made
            }
        case .move:
            let anchor = present[present.count - 1]
            let moved = Array(present.dropLast().shuffled(using: &generator).prefix(3))
            try note(kind, moved) {
                if way % 2 == 0 {
                    try set.move(contentsOf: moved, before: anchor)
                } else {
                    try set.move(contentsOf: moved, after: anchor)
                }
                return .perhaps
            }
        case .exchange:
            try note(kind, [first, present[1]]) {
                try set.exchange(first, with: present[1])
                return .made
            }
        case .sort:
            let divisor = Int.random(in: 2...50, using: &generator)
            try note(kind, []) {
                try set.sort { $0 % divisor < $1 % divisor }
                return .perhaps
            }
        case .renew:
            // Two edits of one transaction: both or none.
            let new = ledger.newElements(1)[0]
            try note(kind, [first, new]) {
                try set.namespace.transaction { t in
                    let inside = try t.orderedSet(set)
                    guard try inside.remove(first) != nil else { return .nothing }
                    try inside.append(new)
                    return .made
                }
            }
        }
    }

    private func note(
        _ kind: CollectionsLedger.Kind,
        _ elements: [Int],
        _ body: () throws -> CollectionsLedger.Outcome
    ) throws {
        guard let edit = ledger.begin(editor, kind, elements) else { return ledger.stop.store(1) }
        if plant == .lost, kind == .insert, edit % 50 == 7 { return ledger.end(editor, edit, .made) }
        do {
            ledger.end(editor, edit, try body())
        } catch let error as SpaceError
            where error.code == .invalidArgument || kind == .sort && error.code == .holderBusy
        {
            // An element has gone meanwhile, or others kept editing: the edit was refused, and nothing has changed.
            ledger.end(editor, edit, .nothing)
        }
    }
}
