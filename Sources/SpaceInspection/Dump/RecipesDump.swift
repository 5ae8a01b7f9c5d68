import SpaceSystem

/// The state that recipes keep beyond the processes that use them, in a dump.
///
/// It has the items of work queues, and the state of counters, latches and rate limits, and set numbers of permits. Holds, and places of waiters,
/// belong to processes and are not part of it: an item that a worker had taken is dumped as a waiting item.
package struct RecipesDump: Sendable {
    package var queues: [QueueDump]
    package var states: [ObjectStateDump]

    package init(queues: [QueueDump] = [], states: [ObjectStateDump] = []) {
        self.queues = queues
        self.states = states
    }

    package var isEmpty: Bool { queues.isEmpty && states.isEmpty }
}

// MARK: Dumping

extension QueueDump {
    /// A work queue without its items.
    init(_ name: String, _ object: SharedObjectRow) {
        let settings = QueueSettings(object.details)
        self.init(name: name, deliveries: settings.deliveries, bound: settings.bound)
    }
}

extension QueueDump.Item {
    /// An item of a work queue, or `nil` if there is none with this number.
    init?(_ rows: QueueRows, _ id: UInt64, in snapshot: Snapshot) throws(SpaceError) {
        guard let item = try snapshot.queueItem(rows, id) else { return nil }
        self.init(
            id: item.id,
            value: try snapshot.queueValue(rows, item.id),
            priority: Int(item.priority),
            readyTime: item.readyTime == 0 ? nil : snapshot.clock.realtime(item.readyTime),
            group: item.group,
            key: item.key,
            reason: item.reason,
            deliveries: Int(item.deliveries),
            isBuried: item.state == .buried,
            origin: item.origin,
            state: "\(item.state)"
        )
    }
}

extension ObjectStateDump {
    /// The state of a counter, latch, rate limit or semaphore.
    init(_ name: String, _ object: SharedObjectRow, _ clock: NamespaceClock) throws(SpaceError) {
        guard let state = State(object, clock) else {
            throw .damaged("the object \(name.quotedForPeople)")
        }
        self.init(name: name, state: state)
    }
}

extension SharedObjectKind {
    /// Whether the whole state of such an object is in its details.
    var isState: Bool { [.counter, .latch, .rateLimit, .semaphore].contains(self) }
}

// MARK: Loading

extension RecipesDump {
    /// Throws `badData` if no queue, counter, latch or rate limit can be as this dump says.
    package func check() throws(SpaceError) {
        func bad(_ reason: String) -> SpaceError { SpaceError(.badData, reason: reason) }
        for queue in queues {
            try Limits.check(objectName: queue.name)
            let counts = 0...Int(UInt32.max)
            guard counts.contains(queue.deliveries), counts.contains(queue.bound ?? 0),
                queue.items.allSatisfy({ counts.contains($0.deliveries) })
            else {
                throw bad("\(queue.name.quotedForPeople) has numbers of deliveries, or a bound, that no queue has")
            }
            for item in queue.items {
                _ = try item.value.checkedElement()
                for (text, what) in [(item.group, "a group's name"), (item.key, "a unique key")] {
                    if let text, !(1...Limits.queueGroupBytes).contains(text.utf8.count) {
                        throw bad(
                            "\(what) of \(text.utf8.count) bytes in \(queue.name.quotedForPeople) is out of range"
                        )
                    }
                }
            }
        }
        for state in states {
            try Limits.check(objectName: state.name)
            guard state.state.isPossible else {
                throw bad("\(state.name.quotedForPeople) has numbers that \(state.kind.phrase) can't have")
            }
        }
    }

    /// Loads the dump as part of a transaction: items go to the ends of their queues, all else gets its dumped state.
    package func load(into scope: WriteScope) throws(SpaceError) {
        for queue in queues { try load(queue, scope) }
        for state in states { try load(state, scope) }
    }

    /// The rows of a dumped queue, which is made if it does not exist, and must not be another.
    private func rows(of queue: QueueDump, _ scope: WriteScope) throws(SpaceError) -> QueueRows {
        guard let (rows, settings) = try scope.snapshot.queue(queue.name) else {
            let settings = QueueSettings(deliveries: queue.deliveries, bound: queue.bound ?? 0)
            return QueueRows(number: try scope.places.makeObject(queue.name, .queue, details: settings.details))
        }
        func check(_ stands: Int, _ wanted: Int?, _ what: (Int) -> String) throws(SpaceError) {
            guard let wanted, wanted != stands else { return }
            throw .mismatch(.queue, queue.name, is: what(stands), wanted: "\(wanted)")
        }
        try check(settings.deliveries, queue.deliveries) { "\($0) deliveries" }
        try check(settings.bound, queue.bound) { "a bound of \($0) items" }
        return rows
    }

    private func load(_ queue: QueueDump, _ scope: WriteScope) throws(SpaceError) {
        let rows = try rows(of: queue, scope)
        var keys: Set<Name> = []
        for item in queue.items.sorted(by: { $0.id < $1.id }) {
            var new = NewItem(encoded: item.value.knownElement)
            new.priority = Int64(item.priority)
            new.readyTime = item.readyTime.flatMap { scope.clock.time(ofLoaded: $0) } ?? 0
            (new.group, new.key, new.reason) = (item.group, item.key, item.reason)
            new.deliveries = UInt32(clamping: item.deliveries)
            new.isBuried = item.isBuried
            new.origin = item.origin == .unknown ? nil : item.origin
            // The dump may have two items with the same key. An item whose key the queue already has is not loaded.
            if let key = new.key, !new.isBuried, !keys.contains(Name(key)) {
                if try scope.snapshot.hasItem(rows, unique: key) { continue }
                keys.insert(Name(key))
            }
            _ = try scope.queues.insert(rows, queue.name, new)
        }
    }

    private func load(_ dump: ObjectStateDump, _ scope: WriteScope) throws(SpaceError) {
        if case .semaphore(let permits) = dump.state {
            try scope.places.setPermits(permits, of: dump.name)
            return
        }
        let details: Value
        /// How many of the numbers define the counter, latch or rate limit, and so are the same for all processes that
        /// use it.
        let fixed: Int
        switch dump.state {
        case .counter(let number): (details, fixed) = (.int(number), 0)
        case .latch(let count, let left): (details, fixed) = (.array([.int(count), .int(left)]), 1)
        case .semaphore(let permits): (details, fixed) = (.int(permits), 0)
        case .rateLimit(let limit, let nanoseconds, let dumped):
            let moments = dumped.map {
                RateMoments.Moment(time: scope.clock.moment(ofLoaded: $0.time) * RateMoments.tick, count: $0.count)
            }
            let rate = RateMoments(
                limit: limit,
                interval: nanoseconds,
                moments: moments.sorted { $0.time < $1.time }
            )
            (details, fixed) = (rate.value(Int(scope.clock.milliseconds) * RateMoments.tick), 2)
        }
        guard let row = try scope.snapshot.object(dump.name, dump.kind) else {
            _ = try scope.places.makeObject(dump.name, dump.kind, details: details)
            return scope.note(Interest(object: dump.name))
        }
        let (old, new) = (row.details.integers.prefix(fixed), details.integers.prefix(fixed))
        guard old == new else {
            throw .mismatch(dump.kind, dump.name, is: "\(Array(old))", wanted: "\(Array(new))")
        }
        try scope.objects.store(dump.name, SharedObjectRow(kind: dump.kind, number: row.number, details: details))
        scope.note(Interest(object: dump.name))
    }
}

extension NamespaceClock {
    /// The namespace clock's time for a dump's wall-clock time in milliseconds since 1970; `nil` if that has passed.
    ///
    /// A time in the far future stays within bounds.
    func time(ofLoaded realtime: Int64) -> Int64? {
        let (left, overflow) = realtime.subtractingReportingOverflow(Clock.realtimeMilliseconds())
        guard overflow ? realtime > 0 : left > 0 else { return nil }
        let isFar = overflow || left > 1 << 60
        return isFar ? time(after: .seconds(Int64.max / 1000)) : time(ofRealtime: realtime)
    }
}

extension NamespaceClock {
    /// The namespace clock's time for a dump's wall-clock time in milliseconds since 1970, which may have passed.
    ///
    /// A time out of bounds becomes the nearest bound.
    fileprivate func moment(ofLoaded realtime: Int64) -> Int {
        let (left, overflow) = realtime.subtractingReportingOverflow(Clock.realtimeMilliseconds())
        guard !overflow else { return realtime < 0 ? 0 : RateLimit.latest / RateMoments.tick }
        let (time, isBeyond) = milliseconds.addingReportingOverflow(left)
        return isBeyond
            ? RateLimit.latest / RateMoments.tick : min(max(0, Int(time)), RateLimit.latest / RateMoments.tick)
    }
}

extension Value {
    /// The integers in an array; for any other value an empty array.
    var integers: [Int] { (list ?? []).compactMap(\.number) }
}
