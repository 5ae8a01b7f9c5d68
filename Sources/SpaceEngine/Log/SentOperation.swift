import TupleCoding

/// An operation as data, which a process sends to its root's daemon.
///
/// In a namespace that several machines share, each commit costs a round trip to the others. So the daemon executes what
/// several processes have sent in one transaction, and appends it as one entry. An operation that is no data (a
/// transaction's body), or is large, is executed by its process under the gate.
package struct SentOperation: Equatable, Sendable {
    /// The session of the process, by which the operation's claims and holders go.
    package let session: UInt64
    /// The process's PID, for the journal.
    package let process: Int32
    package let action: Action

    package enum Action: Equatable, Sendable {
        /// Takes the first of these tuples that is there. Results: `took`, `nothing`.
        case take([UInt64])
        /// Claims the first of these tuples that is there, for a holder. Results: `claimed`, `nothing`.
        case claim([UInt64], holder: UInt64, deadline: Duration?, isTake: Bool)
        /// Completes claims, all or none. Result: `done`.
        case complete([ClaimKey])
        /// Writes a tuple. Result: `wrote`.
        case write(tuple: [UInt8], isRecord: Bool, end: RowEnd)
        /// Sets a cell if it meets a condition. Result: `found`.
        case set(key: String, element: [UInt8], end: RowEnd, condition: CellCondition)
        /// Adds to the integer in a cell. Result: `sum`.
        case increment(key: String, amount: Int64)
    }

    /// A claim on a tuple, by its number.
    package struct ClaimKey: Equatable, Sendable {
        package let id: UInt64
        package let number: UInt64

        package init(id: UInt64, number: UInt64) {
            self.id = id
            self.number = number
        }
    }

    package init(session: UInt64, process: Int32, _ action: Action) {
        self.session = session
        self.process = process
        self.action = action
    }

    /// The most bytes of a tuple or of a value: what is larger would fill an entry alone.
    package static let mostBytes = 16 << 10
    /// The most tuples that a take names, and the most claims that are completed.
    package static let mostTuples = 64

    /// Whether the operation may need more space than it frees.
    package var purpose: WritePurpose {
        switch action {
        case .take, .claim, .complete: .removing
        case .write, .set, .increment: .adding
        }
    }
}

/// What became of a sent operation.
package enum SentResult: Sendable {
    /// No tuple was there; nothing was changed.
    case nothing
    case done
    /// The tuple at this place of the list was taken.
    case took(index: Int)
    case claimed(index: Int, number: UInt64, deliveries: Int)
    case wrote(UInt64)
    /// What the cell held before, and whether it was set.
    case found([UInt8]?, isSet: Bool)
    case sum(Int64)
    /// The operation must be executed by its process: it does not fit in a message. Nothing was changed.
    case notSent
    case failed(SpaceError)
}

// MARK: Bytes

extension SentOperation {
    func encode(into bytes: inout [UInt8]) {
        bytes.append(little: session)
        bytes.append(little: process)
        switch action {
        case .take(let ids):
            bytes.append(1)
            Self.append(ids, to: &bytes)
        case .claim(let ids, let holder, let deadline, let isTake):
            bytes.append(2)
            Self.append(ids, to: &bytes)
            bytes.append(little: holder)
            bytes.append(flag: isTake)
            bytes.append(flag: deadline != nil)
            if let (seconds, rest) = deadline?.components {
                bytes.append(little: seconds)
                bytes.append(little: rest)
            }
        case .complete(let claims):
            bytes.append(3)
            Self.append(claims.flatMap { [$0.id, $0.number] }, to: &bytes)
        case .write(let tuple, let isRecord, let end):
            bytes.append(4)
            bytes.append(flag: isRecord)
            Self.append(end, to: &bytes)
            bytes.append(field: tuple)
        case .set(let key, let element, let end, let condition):
            bytes.append(5)
            bytes.append(field: key)
            Self.append(end, to: &bytes)
            bytes.append(field: element)
            condition.encode(into: &bytes)
        case .increment(let key, let amount):
            bytes.append(6)
            bytes.append(field: key)
            bytes.append(little: amount)
        }
    }

    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes)
        guard let session = reader.next(UInt64.self), let process = reader.next(Int32.self),
            let action = Self.action(&reader), reader.isAtEnd
        else { return nil }
        self.init(session: session, process: process, action)
    }

    private static func action(_ reader: inout ByteReader) -> Action? {
        switch reader.next(UInt8.self) {
        case 1: return numbers(&reader, most: mostTuples).map { .take($0) }
        case 2:
            guard let ids = numbers(&reader, most: mostTuples), let holder = reader.next(UInt64.self),
                let isTake = reader.nextFlag(), let hasDeadline = reader.nextFlag()
            else { return nil }
            guard hasDeadline else { return .claim(ids, holder: holder, deadline: nil, isTake: isTake) }
            guard let seconds = reader.next(Int64.self), let rest = reader.next(Int64.self), seconds >= 0,
                (0..<1_000_000_000_000_000_000).contains(rest)
            else { return nil }
            let deadline = Duration(secondsComponent: seconds, attosecondsComponent: rest)
            return .claim(ids, holder: holder, deadline: deadline, isTake: isTake)
        case 3:
            guard let numbers = numbers(&reader, most: 2 * mostTuples), numbers.count % 2 == 0 else { return nil }
            let claims = stride(from: 0, to: numbers.count, by: 2).map {
                ClaimKey(id: numbers[$0], number: numbers[$0 + 1])
            }
            return .complete(claims)
        case 4:
            guard let isRecord = reader.nextFlag(), let end = end(&reader), let tuple = reader.nextBytes(),
                tuple.count <= mostBytes
            else { return nil }
            return .write(tuple: tuple, isRecord: isRecord, end: end)
        case 5:
            guard let key = reader.nextText(), let end = end(&reader), let element = reader.nextBytes(),
                element.count <= mostBytes, let condition = CellCondition(&reader)
            else { return nil }
            return .set(key: key, element: element, end: end, condition: condition)
        case 6:
            guard let key = reader.nextText(), let amount = reader.next(Int64.self) else { return nil }
            return .increment(key: key, amount: amount)
        default: return nil
        }
    }

    private static func append(_ numbers: [UInt64], to bytes: inout [UInt8]) {
        bytes.append(little: UInt16(numbers.count))
        for number in numbers { bytes.append(little: number) }
    }

    private static func numbers(_ reader: inout ByteReader, most: Int) -> [UInt64]? {
        guard let count = reader.next(UInt16.self), count <= most else { return nil }
        var numbers: [UInt64] = []
        for _ in 0..<count {
            guard let number = reader.next(UInt64.self) else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    private static func append(_ end: RowEnd, to bytes: inout [UInt8]) {
        bytes.append(little: end.expiry)
        bytes.append(little: end.rawHolder)
    }

    private static func end(_ reader: inout ByteReader) -> RowEnd? {
        guard let expiry = reader.next(Int64.self), let holder = reader.next(UInt64.self) else { return nil }
        return RowEnd(expiry: expiry, rawHolder: holder)
    }
}

extension SentResult {
    func encode(into bytes: inout [UInt8]) {
        switch self {
        case .nothing: bytes.append(1)
        case .done: bytes.append(2)
        case .took(let index):
            bytes.append(3)
            bytes.append(little: UInt32(index))
        case .claimed(let index, let number, let deliveries):
            bytes.append(4)
            bytes.append(little: UInt32(index))
            bytes.append(little: number)
            bytes.append(little: UInt32(clamping: deliveries))
        case .wrote(let id):
            bytes.append(5)
            bytes.append(little: id)
        case .found(let element, let isSet):
            bytes.append(6)
            bytes.append(flag: isSet)
            bytes.append(flag: element != nil)
            if let element { bytes.append(field: element) }
        case .sum(let sum):
            bytes.append(7)
            bytes.append(little: sum)
        case .notSent: bytes.append(8)
        case .failed(let error):
            bytes.append(9)
            bytes.append(field: error.code.rawValue)
            bytes.append(little: error.holder ?? 0)
            bytes.append(field: error.reason)
            bytes.append(field: error.advice ?? "")
        }
    }

    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes)
        guard let result = Self.result(&reader), reader.isAtEnd else { return nil }
        self = result
    }

    private static func result(_ reader: inout ByteReader) -> SentResult? {
        switch reader.next(UInt8.self) {
        case 1: return .nothing
        case 2: return .done
        case 3: return reader.next(UInt32.self).map { .took(index: Int($0)) }
        case 4:
            guard let index = reader.next(UInt32.self), let number = reader.next(UInt64.self),
                let deliveries = reader.next(UInt32.self)
            else { return nil }
            return .claimed(index: Int(index), number: number, deliveries: Int(deliveries))
        case 5: return reader.next(UInt64.self).map { .wrote($0) }
        case 6:
            guard let isSet = reader.nextFlag(), let isThere = reader.nextFlag() else { return nil }
            guard isThere else { return .found(nil, isSet: isSet) }
            return reader.nextBytes().map { .found($0, isSet: isSet) }
        case 7: return reader.next(Int64.self).map { .sum($0) }
        case 8: return .notSent
        case 9:
            guard let code = reader.nextText(), let holder = reader.next(Int32.self), let reason = reader.nextText(),
                let advice = reader.nextText()
            else { return nil }
            return .failed(
                SpaceError(
                    .init(rawValue: code),
                    holder: holder == 0 ? nil : holder,
                    reason: reason,
                    advice: advice.isEmpty ? nil : advice
                )
            )
        default: return nil
        }
    }
}

extension SentResult: Equatable {
    /// Results are equal if they say the same.
    package static func == (left: SentResult, right: SentResult) -> Bool {
        func bytes(_ result: SentResult) -> [UInt8] {
            var bytes: [UInt8] = []
            result.encode(into: &bytes)
            return bytes
        }
        return bytes(left) == bytes(right)
    }
}
