extension Snapshot {
    /// What is wrong with the rows of the work queues, one sentence for each fault.
    package func damageInQueues() throws(SpaceError) -> [String] {
        var damage: [String] = []
        var takers: [UInt64: Int] = [:]
        var waiting: Set<Name> = []
        for (name, row) in try allPlaces() where row.kind == .queue {
            if !row.isHolding { waiting.insert(Name(name)) }
            if row.isHolding, let id = row.item { takers[id, default: 0] += 1 }
        }
        var queues: [(name: String, rows: QueueRows)] = []
        try forEachObject { (name, object) throws(SpaceError) in
            if object.kind == .queue { queues.append((name, QueueRows(number: object.number))) }
        }
        for (name, rows) in queues {
            let subject = "the queue \(name.quotedForPeople)"
            // The end of a pause is no commit: the takers settle the queue after it.
            if waiting.contains(Name(name)), try queue(name)?.settings.pausedUntil == 0,
                try !queueIDs(rows.key(.ready), limit: 1).isEmpty
            {
                damage.append("a taker of \(subject) waits, and an item is ready")
            }
            var indexed: [QueueRows.Letter: Int] = [:]
            var groups: [Name: [QueueItemRow]] = [:]
            var keys: [Name: [QueueItemRow]] = [:]
            let ids = try queueIDs(rows.key(.item)).map(\.id)
            for id in ids {
                guard let item = try? queueItem(rows, id), (try? queueValue(rows, id)) != nil else {
                    damage.append("item \(id) of \(subject) does not decode")
                    continue
                }
                if let index = rows.index(of: item) {
                    indexed[QueueRows.Letter(rawValue: index[8]) ?? .item, default: 0] += 1
                    if try !queueIndex.contains(index) {
                        damage.append("item \(id) of \(subject) is \(item.state), and no row says so")
                    }
                }
                if item.state == .taken, takers.removeValue(forKey: id) != 1 {
                    damage.append("item \(id) of \(subject) is taken, and nobody holds it")
                }
                guard item.state != .buried else { continue }
                if let group = item.group { groups[Name(group), default: []].append(item) }
                if let key = item.key { keys[Name(key), default: []].append(item) }
                if try isFirst(item, rows) == (item.state == .blocked) {
                    damage.append("item \(id) of \(subject) is not worked on in its turn")
                }
            }
            if try queueIDs(rows.key(.value)).count != ids.count {
                damage.append("\(subject) has values without items")
            }
            for letter in [QueueRows.Letter.ready, .delayed, .buried, .running]
            where try queueIDs(rows.key(letter)).count != indexed[letter, default: 0] {
                damage.append("\(subject) has rows for items in another state")
            }
            var grouped = 0
            for (group, items) in groups {
                grouped += items.count
                if try queueIDs(rows.group(group.text)).map(\.id) != items.map(\.id).sorted() {
                    damage.append("the group \(group.text.quotedForPeople) of \(subject) is not what its items say")
                }
            }
            for (key, items) in keys {
                let indexed = try queueIDs(rows.unique(key.text)).map(\.id)
                if items.count > 2 || indexed != items.map(\.id).sorted() {
                    damage.append("the key \(key.text.quotedForPeople) of \(subject) is not what its items say")
                }
            }
            if try queueIDs(rows.key(.unique)).count != keys.values.reduce(0, { $0 + $1.count }) {
                damage.append("\(subject) has rows of unique keys too many")
            }
            if try queueIDs(rows.key(.group)).count != grouped {
                damage.append("\(subject) has rows of groups too many")
            }
        }
        for id in takers.keys.sorted() { damage.append("item \(id) of a queue is held, and is not there to be taken") }
        return damage
    }
}
