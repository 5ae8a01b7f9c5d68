/// A request to a store, as a message.
package enum WireRequest: Equatable, Sendable {
    case read(StoreRange, limit: Int?, keysOnly: Bool)
    case transact(StoreTransaction)
    case makeLease(seconds: Int)
    case keepAlive(StoreLease)
    case end(StoreLease)
    case watch(StoreRange, from: Int64)
    /// Ends the watch that has this message's id.
    case stopWatching
    case status

    private enum Kind: UInt8 {
        case read = 1
        case transact, makeLease, keepAlive, end, watch, stopWatching, status
    }

    /// The request as a message.
    package func message(id: UInt64) -> WireMessage {
        var writer = WireWriter()
        let kind: Kind
        switch self {
        case .read(let range, let limit, let keysOnly):
            kind = .read
            writer.range(range)
            writer.flag(limit != nil)
            if let limit { writer.number(Int64(limit)) }
            writer.flag(keysOnly)
        case .transact(let transaction):
            kind = .transact
            writer.list(transaction.compares) { $0.compare($1) }
            writer.list(transaction.then) { $0.operation($1) }
            writer.list(transaction.otherwise) { $0.operation($1) }
        case .makeLease(let seconds):
            kind = .makeLease
            writer.number(Int64(seconds))
        case .keepAlive(let lease):
            kind = .keepAlive
            writer.number(lease.number)
        case .end(let lease):
            kind = .end
            writer.number(lease.number)
        case .watch(let range, let revision):
            kind = .watch
            writer.range(range)
            writer.number(revision)
        case .stopWatching: kind = .stopWatching
        case .status: kind = .status
        }
        return WireMessage(id: id, kind: kind.rawValue, body: writer.bytes)
    }

    package init(_ message: WireMessage) throws(WireError) {
        guard let kind = Kind(rawValue: message.kind) else {
            throw WireError("a request of the unknown kind \(message.kind)")
        }
        var reader = WireReader(message.body)
        switch kind {
        case .read:
            let range = try reader.range()
            let limit = try reader.flag() ? Int(try reader.number(Int64.self)) : nil
            self = .read(range, limit: limit, keysOnly: try reader.flag())
        case .transact:
            self = .transact(
                StoreTransaction(
                    if: try reader.list(smallest: 5) { reader throws(WireError) in try reader.compare() },
                    then: try reader.list(smallest: 5) { reader throws(WireError) in try reader.operation() },
                    else: try reader.list(smallest: 5) { reader throws(WireError) in try reader.operation() }
                )
            )
        case .makeLease: self = .makeLease(seconds: Int(try reader.number(Int64.self)))
        case .keepAlive: self = .keepAlive(StoreLease(number: try reader.number()))
        case .end: self = .end(StoreLease(number: try reader.number()))
        case .watch: self = .watch(try reader.range(), from: try reader.number())
        case .stopWatching: self = .stopWatching
        case .status: self = .status
        }
        try reader.finish()
    }
}

extension WireWriter {
    fileprivate mutating func range(_ range: StoreRange) {
        switch range {
        case .key(let key):
            number(0 as UInt8)
            string(key)
        case .prefix(let prefix):
            number(1 as UInt8)
            string(prefix)
        }
    }

    fileprivate mutating func compare(_ compare: StoreCompare) {
        switch compare {
        case .value(let key, let value):
            number(0 as UInt8)
            string(key)
            blob(value)
        case .modified(let key, let revision):
            number(1 as UInt8)
            string(key)
            number(revision)
        case .absent(let range):
            number(2 as UInt8)
            self.range(range)
        }
    }

    fileprivate mutating func operation(_ operation: StoreOperation) {
        switch operation {
        case .put(let key, let value, let lease):
            number(0 as UInt8)
            string(key)
            blob(value)
            number(lease.number)
        case .delete(let range):
            number(1 as UInt8)
            self.range(range)
        case .read(let range):
            number(2 as UInt8)
            self.range(range)
        }
    }
}

extension WireReader {
    fileprivate mutating func range() throws(WireError) -> StoreRange {
        switch try number(UInt8.self) {
        case 0: return .key(try string())
        case 1: return .prefix(try string())
        case let other: throw WireError("a range of the unknown kind \(other)")
        }
    }

    fileprivate mutating func compare() throws(WireError) -> StoreCompare {
        switch try number(UInt8.self) {
        case 0: return .value(try string(), try blob())
        case 1: return .modified(try string(), try number())
        case 2: return .absent(try range())
        case let other: throw WireError("a compare of the unknown kind \(other)")
        }
    }

    fileprivate mutating func operation() throws(WireError) -> StoreOperation {
        switch try number(UInt8.self) {
        case 0: return .put(try string(), try blob(), StoreLease(number: try number()))
        case 1: return .delete(try range())
        case 2: return .read(try range())
        case let other: throw WireError("an operation of the unknown kind \(other)")
        }
    }
}
