import SpaceSystem

/// An operation on one cell that is there, or is not.
protocol CellOperation: Operation {
    var key: String { get }
}

extension CellOperation {
    var keeps: NearKept { .all }
    func size(in scope: WriteScope) throws(SpaceError) -> Int { try scope.snapshot.cell(key)?.count ?? 0 }
}

/// Sets a cell if it meets a condition; the outcome is whether it did, and the value that it had.
struct SetCell: CellOperation, SentOperation {
    let key: String
    let element: [UInt8]
    let end: RowEnd
    let condition: CellCondition

    init(_ key: String, _ element: [UInt8], _ end: RowEnd, if condition: CellCondition) {
        (self.key, self.element, self.end, self.condition) = (key, element, end, condition)
    }

    static var name: String { "set a cell" }
    static var purpose: WritePurpose { .adding }
    /// A commit that adds many pages would use up what is promised to the near end.
    var keeps: NearKept { element.count <= NearRing.longestTuple ? .all : [] }
    var holder: ClaimHolder? { end.holder }
    func with(holder: ClaimHolder) -> SetCell { SetCell(key, element, end.with(holder: holder), if: condition) }
    func size(in scope: WriteScope) throws(SpaceError) -> Int {
        try element.count + (scope.snapshot.cell(key)?.count ?? 0)
    }

    func execute(in scope: WriteScope) throws(SpaceError) -> (isSet: Bool, old: Value?) {
        try scope.set(key, element, end, if: condition)
    }

    static var tag: UInt8 { 5 }
    var fitsInMessage: Bool { max(element.count, condition.size) <= SentOperations.mostBytes }
    func check() throws(SpaceError) { try Limits.check(cellKey: key) }

    func outcomeFitsInMessage(in scope: WriteScope) throws(SpaceError) -> Bool {
        try scope.snapshot.cell(key)?.count ?? 0 <= SentOperations.mostBytes
    }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(field: key)
        end.encode(into: &bytes)
        bytes.append(field: element)
        condition.encode(into: &bytes)
    }

    init?(_ reader: inout ByteReader, session: UInt64) {
        guard let key = reader.nextText(), let end = RowEnd(&reader), let element = reader.nextBytes(),
            let condition = CellCondition(&reader)
        else { return nil }
        self.init(key, element, end, if: condition)
    }

    static func encode(_ outcome: (isSet: Bool, old: Value?), into bytes: inout [UInt8]) {
        bytes.append(.set)
        bytes.append(flag: outcome.isSet)
        bytes.append(flag: outcome.old != nil)
        if let old = outcome.old { bytes.append(field: old.knownElement) }
    }

    static func outcome(_ reader: inout ByteReader) -> (isSet: Bool, old: Value?)? {
        guard reader.nextOutcome() == .set, let isSet = reader.nextFlag(), let isThere = reader.nextFlag()
        else { return nil }
        guard isThere else { return (isSet, nil) }
        guard let element = reader.nextBytes(),
            let old = try? element.withBytes({ (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) })
        else { return nil }
        return (isSet, old)
    }
}

/// Adds to the integer in a cell; the outcome is the sum.
struct Increment: CellOperation, SentOperation {
    let key: String
    let amount: Int

    init(_ key: String, by amount: Int) { (self.key, self.amount) = (key, amount) }

    static var name: String { "increment a cell" }

    /// A cell that is there can be incremented in a full namespace, too, as a counter can.
    func execute(in scope: WriteScope) throws(SpaceError) -> Int {
        if try scope.snapshot.cellRow(key) == nil { scope.meter.use(.adding) }
        return try scope.increment(key, by: amount)
    }

    static var tag: UInt8 { 6 }
    func check() throws(SpaceError) { try Limits.check(cellKey: key) }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(field: key)
        bytes.append(little: Int64(amount))
    }

    init?(_ reader: inout ByteReader, session: UInt64) {
        guard let key = reader.nextText(), let amount = reader.next(Int64.self) else { return nil }
        self.init(key, by: Int(amount))
    }

    static func encode(_ outcome: Int, into bytes: inout [UInt8]) {
        bytes.append(.incremented)
        bytes.append(little: Int64(outcome))
    }

    static func outcome(_ reader: inout ByteReader) -> Int? {
        reader.nextOutcome() == .incremented ? reader.next(Int64.self).map { Int($0) } : nil
    }
}

/// A cell that was unset, as it was before: its value, and when it would have ended.
package struct FormerCell: Sendable {
    package let value: Value
    let end: RowEnd
}

/// Unsets a cell; the outcome is what it was, or `nil` if it was not set.
struct Unset: CellOperation {
    let key: String

    static var name: String { "unset a cell" }

    func execute(in scope: WriteScope) throws(SpaceError) -> FormerCell? {
        guard let row = try scope.snapshot.cellRow(key) else { return nil }
        let former = FormerCell(value: try scope.snapshot.value(key, row.element), end: row.end)
        try scope.unset(key)
        return former
    }
}

/// Unsets a cell whose value decodes; the outcome is its content, or `nil` if it was not set.
struct TakeCell<Content: Decodable>: CellOperation {
    let key: String

    static var name: String { "take a cell" }
    var name: String { "take the cell \(key.quotedForPeople)" }

    func execute(in scope: WriteScope) throws(SpaceError) -> Content? {
        guard let row = try scope.snapshot.cellRow(key) else { return nil }
        let content = try scope.snapshot.value(key, row.element).content(Content.self)
        try scope.unset(key)
        return content
    }
}

/// Restores a cell that was unset, unless it was set again or would have expired by now.
struct PutBack: Operation {
    let key: String
    let element: [UInt8]
    let end: RowEnd

    static var name: String { SetCell.name }
    static var purpose: WritePurpose { .adding }

    func execute(in scope: WriteScope) throws(SpaceError) {
        guard try scope.snapshot.cellRow(key) == nil, end.isVisible(scope.clock) else { return }
        try scope.set(key, element, end: end)
    }
}

/// Changes when a cell or a tuple ends by itself; the outcome is whether it is there.
///
/// The row is there, and is to go sooner or later: this may use the space that is kept back for removals.
struct SetEnd: Operation {
    enum Row {
        case cell(String)
        case tuple(TupleID)

        var name: String { if case .cell = self { "a cell" } else { "a tuple" } }
    }

    let row: Row
    /// The time from now on at which it expires, with its holder as before; `nil`: only a call ends it.
    let expires: Duration?

    static var name: String { "renew" }
    var name: String { (expires == nil ? "persist " : "renew ") + row.name }
    var keeps: NearKept { if case .cell = row { .all } else { [] } }

    func size(in scope: WriteScope) throws(SpaceError) -> Int {
        if case .cell(let key) = row { try scope.snapshot.cell(key)?.count ?? 0 } else { 0 }
    }

    func execute(in scope: WriteScope) throws(SpaceError) -> Bool {
        func moved(_ end: RowEnd) -> RowEnd {
            expires.map { RowEnd(expiry: scope.clock.time(after: $0), holder: end.holder) } ?? RowEnd()
        }
        switch row {
        case .cell(let key):
            guard let row = try scope.snapshot.cellRow(key) else { return false }
            try scope.setEnd(ofCell: key, row, moved(row.end))
        case .tuple(let id):
            guard let row = try scope.snapshot.tupleRow(id.rawValue) else { return false }
            try scope.setEnd(of: id.rawValue, row, moved(row.end))
        }
        return true
    }
}
