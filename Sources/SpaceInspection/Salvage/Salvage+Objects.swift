import SpaceSystem

// Shared objects: ordered sets, dictionaries, queues, and objects whose state is one value.

extension Salvage {
    /// Decodes shared objects; `objects` and `elements` are the rows of the two tables.
    mutating func decodeObjects(_ objects: [SalvagedRows.Row], _ elements: [SalvagedRows.Row], _ clock: SalvageClock) {
        var owned: [UInt64: [SalvagedRows.Row]] = [:]
        for row in elements where row.key.count > 8 {
            owned[row.key.withBytes { $0.big(0) }, default: []].append(row)
        }
        // The arguments of requests, which belong to processes, are not saved.
        owned[0] = nil
        for row in objects {
            let key = Array(row.key.dropFirst())
            guard let name = String(validating: key, as: UTF8.self), (1...Limits.objectNameBytes).contains(key.count)
            else {
                leftOut.append("the name of a shared object is no UTF-8, or too long")
                continue
            }
            guard let object = row.value.withBytes({ SharedObjectRow($0) }) else {
                leftOut.append("the shared object \(name.quotedForPeople) does not decode")
                continue
            }
            let rows = owned.removeValue(forKey: object.number) ?? []
            if object.kind.isCollection {
                decodeCollection(name, object, rows)
            } else if object.kind == .queue {
                decodeQueue(name, object, rows, clock)
            } else if object.kind.isState {
                guard let state = ObjectStateDump.State(object, clock.clock), state.isPossible else {
                    leftOut.append("the shared object \(name.quotedForPeople) does not decode")
                    continue
                }
                recipes.states.append(ObjectStateDump(name: name, state: state))
            }
        }
        for (number, rows) in owned.sorted(by: { $0.key < $1.key }) {
            leftOut.append("\(rows.count) rows are of the shared object \(number), whose name is lost")
        }
    }

    private mutating func decodeCollection(_ name: String, _ object: SharedObjectRow, _ rows: [SalvagedRows.Row]) {
        guard let details = CollectionDetails(object.details),
            case let type = details.elementType, (1...Limits.objectNameBytes).contains(type.utf8.count)
        else { return leftOut.append("the type of \(name.quotedForPeople) does not decode") }
        guard object.kind == .orderedSet else {
            guard !name.utf8.contains(DictionaryKeys.separator) else {
                return leftOut.append("the dictionary \(name.quotedForPeople) has a slash in its name")
            }
            let count = cells.count { $0.key.utf8.starts(with: "\(name)/".utf8) }
            return collections.append(CollectionDump(name: name, kind: .dictionary, elementType: type, count: count))
        }
        var found: [ElementReference: [UInt8]] = [:]
        var chunks: [UInt32: [UInt8]] = [:]
        var directory: ElementDirectory?
        for row in rows {
            switch ElementKey(keyBytes: row.key)?.row {
            case .directory?: directory = row.value.withBytes { ElementDirectory($0) }
            case .chunk(let id)?: chunks[id] = row.value
            case .element(let reference)?: found[reference] = row.value
            case nil: leftOut.append("a row of the ordered set \(name.quotedForPeople) has a key that none has")
            }
        }
        let isKeyed = details.keyType != nil
        var elements: [Value] = []
        var keys: [Value] = []
        var lost = 0
        func take(_ reference: ElementReference) {
            let bytes = found.removeValue(forKey: reference)
            let parts = bytes.flatMap { (bytes) -> (element: [UInt8], identity: [UInt8])? in
                bytes.withBytes {
                    ElementRow($0, isKeyed: isKeyed).map { (Array($0.encoded), Array($0.identity)) }
                }
            }
            guard let parts, let value = Self.element(parts.element), let key = Self.element(parts.identity) else {
                return lost += 1
            }
            elements.append(value)
            if isKeyed { keys.append(key) }
        }
        for chunk in directory?.chunks ?? [] {
            let references = chunks[chunk.id].flatMap { bytes in
                bytes.withBytes { [ElementReference](chunk: $0, count: chunk.count) }
            }
            // If the chunk is lost, its elements follow at the end.
            references?.forEach(take)
        }
        let unplaced = found.keys.sorted { ($0.hash, $0.number) < ($1.hash, $1.number) }
        unplaced.forEach(take)
        if !unplaced.isEmpty {
            leftOut.append("the places of \(unplaced.count) elements of \(name.quotedForPeople); they are at its end")
        }
        if directory == nil {
            leftOut.append("the directory of \(name.quotedForPeople)")
        } else if let missing = directory.map({ $0.count - elements.count }), missing > 0 {
            leftOut.append("\(missing) elements of \(name.quotedForPeople)")
        } else if lost > 0 {
            leftOut.append("\(lost) elements of \(name.quotedForPeople), which don't decode")
        }
        var dump = CollectionDump(
            name: name,
            kind: .orderedSet,
            elementType: type,
            keyType: details.keyType,
            count: elements.count,
            elements: elements
        )
        dump.keys = keys
        collections.append(dump)
    }

    private mutating func decodeQueue(
        _ name: String,
        _ object: SharedObjectRow,
        _ rows: [SalvagedRows.Row],
        _ clock: SalvageClock
    ) {
        var items: [UInt64: QueueItemRow] = [:]
        var values: [UInt64: Value] = [:]
        for row in rows {
            guard let letter = QueueRows.Letter(rawValue: row.key[8]), letter == .item || letter == .value,
                row.key.count == 17, let id = row.key.withBytes({ QueueRows.id(of: $0) })
            else { continue }
            if letter == .item {
                items[id] = QueueItemRow(keyBytes: row.key, valueBytes: row.value)
            } else {
                values[id] = Self.element(row.value)
            }
        }
        let settings = QueueSettings(object.details)
        var dump = QueueDump(name: name, deliveries: settings.deliveries, bound: settings.bound)
        for id in Set(items.keys).union(values.keys).sorted() {
            guard let value = values[id] else {
                leftOut.append("the value of item \(id) of the queue \(name.quotedForPeople)")
                continue
            }
            let item = items[id]
            if item == nil {
                leftOut.append("the state of item \(id) of the queue \(name.quotedForPeople); it is ready")
            }
            func whole(_ text: String?) -> String? {
                text.flatMap { (1...Limits.queueGroupBytes).contains($0.utf8.count) ? $0 : nil }
            }
            dump.items.append(
                QueueDump.Item(
                    id: id,
                    value: value,
                    priority: Int(item?.priority ?? 0),
                    readyTime: item.flatMap { clock.realtime($0.readyTime) },
                    group: whole(item?.group),
                    key: whole(item?.key),
                    reason: item?.reason,
                    deliveries: Int(item?.deliveries ?? 0),
                    isBuried: item?.state == .buried,
                    origin: item?.origin ?? .unknown,
                    state: item.map { "\($0.state)" } ?? "ready"
                )
            )
        }
        recipes.queues.append(dump)
    }
}
