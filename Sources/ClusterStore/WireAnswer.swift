/// A store's answer to a request, or the next news of a watch, as a message.
package enum WireAnswer: Equatable, Sendable {
    case reading(StoreReading)
    case outcome(StoreOutcome)
    case lease(StoreLease)
    case seconds(Int)
    case done
    case status(StoreStatus)
    case news(StoreNews)
    /// The request failed, or the watch has ended.
    case failed(StoreError)

    private enum Kind: UInt8 {
        case reading = 0x41
        case outcome, lease, seconds, done, status, changes, progress, failed
    }

    /// The answer as a message.
    package func message(id: UInt64) -> WireMessage {
        var writer = WireWriter()
        let kind: Kind
        switch self {
        case .reading(let reading):
            kind = .reading
            writer.number(reading.revision)
            writer.flag(reading.hasMore)
            writer.list(reading.rows) { $0.row($1) }
        case .outcome(let outcome):
            kind = .outcome
            writer.flag(outcome.held)
            writer.number(outcome.revision)
            writer.list(outcome.readings) { $0.list($1) { $0.row($1) } }
        case .lease(let lease):
            kind = .lease
            writer.number(lease.number)
        case .seconds(let seconds):
            kind = .seconds
            writer.number(Int64(seconds))
        case .done: kind = .done
        case .status(let status):
            kind = .status
            writer.string(status.version)
            writer.list(status.troubles) { $0.string($1) }
        case .news(.changes(let changes, let revision)):
            kind = .changes
            writer.number(revision)
            writer.list(changes) { $0.change($1) }
        case .news(.progress(let revision)):
            kind = .progress
            writer.number(revision)
        case .failed(let error):
            kind = .failed
            writer.error(error)
        }
        return WireMessage(id: id, kind: kind.rawValue, body: writer.bytes)
    }

    package init(_ message: WireMessage) throws(WireError) {
        guard let kind = Kind(rawValue: message.kind) else {
            throw WireError("an answer of the unknown kind \(message.kind)")
        }
        var reader = WireReader(message.body)
        switch kind {
        case .reading:
            let revision = try reader.number(Int64.self)
            let hasMore = try reader.flag()
            self = .reading(StoreReading(revision: revision, rows: try reader.rows(), hasMore: hasMore))
        case .outcome:
            let held = try reader.flag()
            let revision = try reader.number(Int64.self)
            let readings = try reader.list(smallest: 4) { reader throws(WireError) in try reader.rows() }
            self = .outcome(StoreOutcome(held: held, revision: revision, readings: readings))
        case .lease: self = .lease(StoreLease(number: try reader.number()))
        case .seconds: self = .seconds(Int(try reader.number(Int64.self)))
        case .done: self = .done
        case .status:
            let version = try reader.string()
            let troubles = try reader.list(smallest: 4) { reader throws(WireError) in try reader.string() }
            self = .status(StoreStatus(version: version, troubles: troubles))
        case .changes:
            let revision = try reader.number(Int64.self)
            let changes = try reader.list(smallest: 13) { reader throws(WireError) in try reader.change() }
            self = .news(.changes(changes, revision: revision))
        case .progress: self = .news(.progress(revision: try reader.number()))
        case .failed: self = .failed(try reader.error())
        }
        try reader.finish()
    }
}

extension WireWriter {
    fileprivate mutating func row(_ row: StoreRow) {
        string(row.key)
        blob(row.value)
        number(row.created)
        number(row.modified)
        number(row.lease.number)
    }

    fileprivate mutating func change(_ change: StoreChange) {
        switch change {
        case .put(let row):
            number(0 as UInt8)
            self.row(row)
        case .deleted(let key, let revision):
            number(1 as UInt8)
            string(key)
            number(revision)
        }
    }

    fileprivate mutating func error(_ error: StoreError) {
        switch error {
        case .unavailable(let reason):
            number(0 as UInt8)
            string(reason)
        case .unknown(let reason):
            number(1 as UInt8)
            string(reason)
        case .refused(let reason):
            number(2 as UInt8)
            string(reason)
        case .compacted(let revision):
            number(3 as UInt8)
            number(revision)
        }
    }
}

extension WireReader {
    fileprivate mutating func rows() throws(WireError) -> [StoreRow] {
        try list(smallest: 32) { reader throws(WireError) in try reader.row() }
    }

    fileprivate mutating func row() throws(WireError) -> StoreRow {
        let key = try string()
        let value = try blob()
        let created = try number(Int64.self)
        let modified = try number(Int64.self)
        return StoreRow(
            key: key,
            value: value,
            created: created,
            modified: modified,
            lease: StoreLease(number: try number())
        )
    }

    fileprivate mutating func change() throws(WireError) -> StoreChange {
        switch try number(UInt8.self) {
        case 0: return .put(try row())
        case 1: return .deleted(try string(), revision: try number())
        case let other: throw WireError("a change of the unknown kind \(other)")
        }
    }

    fileprivate mutating func error() throws(WireError) -> StoreError {
        switch try number(UInt8.self) {
        case 0: return .unavailable(try string())
        case 1: return .unknown(try string())
        case 2: return .refused(try string())
        case 3: return .compacted(try number())
        case let other: throw WireError("an error of the unknown kind \(other)")
        }
    }
}
