/// The rows of a work queue in `elements`.
///
/// Guarantees: an item is in one state. Beside its own row it has a row in that state's index, and one transaction
/// changes both. A taken item is also a hold of its taker (`holds`): when the hold ends in any way, the transaction
/// that removes the hold returns the item. Of a group's items only the first can be ready, delayed or taken; the others
/// are blocked until the first is gone. So no two items of a group are worked on at the same time, and none before an
/// item that was put earlier. The same holds for a unique key, which at most two items have: the second waits behind
/// the first, which a worker had when the second was put.
///
/// A key is the queue's number, a letter, and the fields of that letter. All numbers are big-endian, so the first key
/// of a letter is the next in turn:
///
///     I id                 the item's state
///     V id                 its value, one encoded element; it stays in place when the item's state changes
///     R priority, id       ready, the highest priority first
///     D time, id           delayed, by the time when it becomes ready
///     G group, id          of a group, in the order of putting
///     T time, id           taken with a time to run, by the time when that is over
///     U key, id            of a unique key; a buried item has none
///     X id                 a buried item
package struct QueueRows {
    package enum Letter: UInt8 {
        case item = 0x49, value = 0x56, ready = 0x52, delayed = 0x44, group = 0x47, buried = 0x58, running = 0x54,
            unique = 0x55
    }

    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    package func key(_ letter: Letter, _ rest: [UInt8] = []) -> [UInt8] {
        number.bigEndianBytes + [letter.rawValue] + rest
    }

    package func item(_ id: UInt64) -> [UInt8] { key(.item, id.bigEndianBytes) }
    package func value(_ id: UInt64) -> [UInt8] { key(.value, id.bigEndianBytes) }

    /// The key of an item's row in its state's index, or `nil` for blocked items and taken ones without a time
    /// to run, which need none.
    package func index(of item: QueueItemRow) -> [UInt8]? {
        switch item.state {
        case .ready:
            // Descending order: the complement, with the sign bit flipped so that the bytes sort as the numbers do.
            let order = ~(UInt64(bitPattern: item.priority) ^ 1 << 63)
            return key(.ready, order.bigEndianBytes + item.id.bigEndianBytes)
        case .delayed:
            return key(.delayed, UInt64(bitPattern: item.readyTime).bigEndianBytes + item.id.bigEndianBytes)
        case .buried: return key(.buried, item.id.bigEndianBytes)
        case .taken where item.endTime != 0:
            return key(.running, UInt64(bitPattern: item.endTime).bigEndianBytes + item.id.bigEndianBytes)
        case .taken, .blocked: return nil
        }
    }

    package func group(_ name: String) -> [UInt8] { key(.group, Value.string(name).knownElement) }
    package func unique(_ name: String) -> [UInt8] { key(.unique, Value.string(name).knownElement) }

    /// The beginnings of the index rows, before the ids, of the items that are worked on one after the other with an item:
    /// those of its group, and those of its unique key.
    func turns(of item: QueueItemRow) -> [[UInt8]] {
        [item.group.map { group($0) }, item.key.map { unique($0) }].compactMap(\.self)
    }

    /// The id that a key of any letter ends with.
    package static func id(of key: UnsafeRawBufferPointer) -> UInt64? { key.count >= 17 ? key.big(key.count - 8) : nil }
}

extension UInt64 {
    package var bigEndianBytes: [UInt8] { Swift.withUnsafeBytes(of: bigEndian) { Array($0) } }
}

extension TransactionTables {
    /// The items of all queues; `QueueRows` makes the keys.
    package var queueItems: Table<[UInt8], QueueItemRow> { table(tables.elements) }
    /// The items' values.
    package var queueValues: Table<[UInt8], UnsafeRawBufferPointer> { table(tables.elements) }
    /// The items by their states and groups.
    package var queueIndex: Table<[UInt8], NoValue> { table(tables.elements) }
}

extension PlaceRow {
    /// The id of the item that a queue's taker has, or `nil` if it has none.
    var item: UInt64? { if case .int(let id) = details { UInt64(bitPattern: Int64(id)) } else { nil } }

    /// The time to run that a waiting taker asks for, in milliseconds; `nil`: without limit.
    var timeToRun: Int64? {
        if case .array(let parts) = details, case .int(let time)? = parts.first { Int64(time) } else { nil }
    }
}

extension Snapshot {
    /// The queue with a name, or `nil` if there is none.
    ///
    /// Throws `typeMismatch` if the name belongs to another kind of object.
    package func queue(_ name: String) throws(SpaceError) -> (rows: QueueRows, settings: QueueSettings)? {
        try object(name, .queue).map { (QueueRows(number: $0.number), QueueSettings($0.details)) }
    }

    package func queueItem(_ rows: QueueRows, _ id: UInt64) throws(SpaceError) -> QueueItemRow? {
        try queueItems.get(rows.item(id))
    }

    package func queueValue(_ rows: QueueRows, _ id: UInt64) throws(SpaceError) -> Value {
        guard let bytes = try queueValues.get(rows.value(id)), let value = try? Value(encodedElement: bytes) else {
            throw .damaged("the value of item \(id) of a queue")
        }
        return value
    }

    /// The ids of the rows under a prefix, in order, with the eight bytes before each id: a delayed item's time.
    ///
    /// If another group's name is this one's followed by a NUL and more, its keys begin with the same prefix; they are
    /// longer, and are left out.
    package func queueIDs(_ prefix: [UInt8], limit: Int = .max) throws(SpaceError) -> [(id: UInt64, before: UInt64)] {
        let isGroup = prefix.count > 9
        var found: [(UInt64, UInt64)] = []
        var rows = try queueIndex.scan(prefix: prefix)
        while found.count < limit, let (key, _) = try rows.nextBytes(), let id = QueueRows.id(of: key) {
            if isGroup, key.count != prefix.count + 8 { break }
            found.append((id, key.big(key.count - 16)))
        }
        return found
    }

    /// Whether no other item has to be worked on before an item, because of its group or its unique key.
    func isFirst(_ item: QueueItemRow, _ rows: QueueRows) throws(SpaceError) -> Bool {
        for turn in rows.turns(of: item) where try queueIDs(turn, limit: 1).first?.id != item.id { return false }
        return true
    }

    /// Whether an item has a unique key.
    package func hasItem(_ rows: QueueRows, unique key: String) throws(SpaceError) -> Bool {
        try !queueIDs(rows.unique(key), limit: 1).isEmpty
    }

    /// Whether a queue has as many items as its bound allows, or would have with `more`; buried items don't count.
    func isFull(_ rows: QueueRows, _ settings: QueueSettings, adding more: Int = 1) throws(SpaceError) -> Bool {
        guard settings.bound > 0 else { return false }
        guard more <= settings.bound else { return true }
        let buried = try queueIDs(rows.key(.buried)).count
        return try queueIDs(rows.key(.item), limit: settings.bound + buried).count - buried + more > settings.bound
    }
}
