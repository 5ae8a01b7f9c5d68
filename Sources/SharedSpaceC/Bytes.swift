import CSharedSpace
import Glibc
import SpaceRecipes
import SpaceSystem
import Synchronization
import TupleCoding

// The arguments and results of a call: bytes of the tuple layer, or JSON.

// MARK: Given

extension sharedspace_bytes {
    /// The bytes, which are valid during the call.
    fileprivate var raw: UnsafeRawBufferPointer {
        get throws(SpaceError) {
            // A size_t beyond the greatest Int comes as a negative number.
            guard count >= 0, bytes != nil || count == 0 else {
                throw .misuse(
                    bytes == nil ? "the bytes are NULL" : "there can't be so many bytes",
                    advice: "give bytes"
                )
            }
            return UnsafeRawBufferPointer(start: bytes, count: count)
        }
    }

    var isNothing: Bool { bytes == nil && count == 0 }

    /// The bytes as text.
    func text() throws(SpaceError) -> String {
        guard let text = String(validating: try raw, as: UTF8.self) else {
            throw SpaceError(.badData, reason: "the text is not UTF-8", advice: "JSON is UTF-8")
        }
        return text
    }

    func tuple(_ flags: Flags) throws(SpaceError) -> Tuple {
        if flags.contains(.json) {
            let text = try text()
            return try coding { () throws(TupleCodingError) in try Tuple(json: text) }
        }
        let encoded = EncodedTuple(bytes: try raw, isRecord: flags.contains(.record))
        return try coding { () throws(TupleCodingError) in try Tuple(copying: encoded) }
    }

    /// The tuple where it is, checked.
    func encodedTuple(_ flags: Flags) throws(SpaceError) -> EncodedTuple {
        let encoded = EncodedTuple(bytes: try raw, isRecord: flags.contains(.record))
        try coding { () throws(TupleCodingError) in try encoded.validate() }
        return encoded
    }

    func template(_ flags: Flags) throws(SpaceError) -> Template {
        let exactly = flags.contains(.exact)
        if flags.contains(.json) {
            let text = try text()
            return try coding { () throws(TupleCodingError) in try Template(json: text, exactly: exactly) }
        }
        let raw = try raw
        return try coding { () throws(TupleCodingError) in
            try Template(portable: raw, isRecord: flags.contains(.record), exactly: exactly)
        }
    }

    func value(_ flags: Flags) throws(SpaceError) -> Value {
        if flags.contains(.json) {
            let text = try text()
            return try coding { () throws(TupleCodingError) in try Value(json: text) }
        }
        var decoder = TupleDecoder(try raw)
        return try coding { () throws(TupleCodingError) in
            let value = try decoder.decodeValue()
            try decoder.finish()
            return value
        }
    }

    /// A value; null for no bytes at all.
    func valueOrNull(_ flags: Flags) throws(SpaceError) -> Value { isNothing ? .null : try value(flags) }

    /// A tuple's fields, or the elements of a JSON array, which enclose other values.
    func values(_ flags: Flags, _ what: String) throws(SpaceError) -> [Value] {
        if flags.contains(.json) {
            let text = try text()
            let value = try coding { () throws(TupleCodingError) in try Value(line: text) }
            guard case .array(let values) = value else {
                throw SpaceError(.badData, reason: "\(what) are no array", advice: "put them in brackets")
            }
            return values
        }
        var decoder = TupleDecoder(try raw)
        return try coding { () throws(TupleCodingError) in
            var values: [Value] = []
            while !decoder.isAtEnd { values.append(try decoder.decodeValue()) }
            return values
        }
    }
}

/// The several bytes that a call is given.
func given(
    _ pointer: UnsafePointer<sharedspace_bytes>?,
    _ count: Int,
    _ what: String
) throws(SpaceError) -> UnsafeBufferPointer<sharedspace_bytes> {
    guard pointer != nil || count == 0, count >= 0 else { throw .isNull(what) }
    return UnsafeBufferPointer(start: pointer, count: count)
}

/// The values of several bytes.
func values(
    _ pointer: UnsafePointer<sharedspace_bytes>?,
    _ count: Int,
    _ flags: Flags
) throws(SpaceError) -> [Value] {
    var values: [Value] = []
    for one in try given(pointer, count, "the value") { values.append(try one.value(flags)) }
    return values
}

/// The template that matches what any of those given does.
func template(
    _ pointer: UnsafePointer<sharedspace_bytes>?,
    _ count: Int,
    _ flags: Flags
) throws(SpaceError) -> Template {
    let templates = try given(pointer, count, "the template")
    if templates.count == 1 { return try templates[0].template(flags) }
    var all: [Template] = []
    for one in templates { all.append(try one.template(flags)) }
    return .anyOf(all)
}

/// A template, and the bytes of which it was made.
struct KnownTemplate {
    private static let longest = 256

    private let bytes: [UInt8]
    private let flags: Flags
    private let template: Template

    private func isMade(of raw: UnsafeRawBufferPointer) -> Bool {
        guard raw.count == bytes.count, let start = raw.baseAddress else { return false }
        return memcmp(start, bytes, raw.count) == 0
    }

    /// The template that matches what any of those given does; the one that `last` keeps, if it was made of these bytes.
    static func template(
        _ pointer: UnsafePointer<sharedspace_bytes>?,
        _ count: Int,
        _ flags: Flags,
        last: borrowing Mutex<KnownTemplate?>
    ) throws(SpaceError) -> Template {
        guard count == 1, let raw = try pointer?.pointee.raw, (1...longest).contains(raw.count) else {
            return try SharedSpaceC.template(pointer, count, flags)
        }
        let flags = flags.intersection([.json, .record, .exact])
        let known = last.withLockIfAvailable { last in
            last.flatMap { $0.flags == flags && $0.isMade(of: raw) ? $0.template : nil }
        }
        if let known, let known { return known }
        let template = try SharedSpaceC.template(pointer, count, flags)
        last.withLock { $0 = KnownTemplate(bytes: Array(raw), flags: flags, template: template) }
        return template
    }
}

// MARK: Results

/// The result that a call fills.
struct CallResult {
    private let pointer: UnsafeMutablePointer<sharedspace_result>

    /// Empties the caller's result, and keeps its memory.
    init(_ pointer: UnsafeMutablePointer<sharedspace_result>?) throws(SpaceError) {
        guard let pointer else { throw .isNull("the result") }
        guard Int(pointer.pointee.size) >= MemoryLayout<sharedspace_result>.size, pointer.pointee.size <= 4096 else {
            throw .misuse(
                "the result has a size of \(pointer.pointee.size)",
                advice: "begin with sharedspace_no_result()"
            )
        }
        self.pointer = pointer
        clear()
    }

    /// The result of a call, if the caller may leave it out; `nil` if the caller doesn't want it.
    static func ifWanted(_ pointer: UnsafeMutablePointer<sharedspace_result>?) throws(SpaceError) -> CallResult? {
        pointer == nil ? nil : try CallResult(pointer)
    }

    func clear() {
        var empty = sharedspace_result()
        empty.size = pointer.pointee.size
        (empty.bytes, empty.capacity) = (pointer.pointee.bytes, pointer.pointee.capacity)
        pointer.pointee = empty
    }

    func set<Field>(_ field: WritableKeyPath<sharedspace_result, Field>, _ value: Field) {
        pointer.pointee[keyPath: field] = value
    }

    func set(id: UInt64, number: UInt64, deliveries: Int) {
        pointer.pointee.id = id
        pointer.pointee.number = number
        pointer.pointee.deliveries = UInt32(clamping: deliveries)
    }

    /// Copies bytes, and a NUL behind them.
    func copy(_ bytes: UnsafeRawBufferPointer, _ flags: Flags = []) throws(SpaceError) {
        let needed = bytes.count + 1
        if pointer.pointee.capacity < needed || pointer.pointee.bytes == nil {
            let capacity = max(64, needed + needed / 2)
            guard let grown = realloc(pointer.pointee.bytes, capacity) else {
                throw SpaceError(.inputOutput, reason: "there is no memory for \(needed) bytes")
            }
            (pointer.pointee.bytes, pointer.pointee.capacity) = (grown.assumingMemoryBound(to: UInt8.self), capacity)
        }
        if let start = bytes.baseAddress { memcpy(pointer.pointee.bytes, start, bytes.count) }
        pointer.pointee.bytes[bytes.count] = 0
        pointer.pointee.count = bytes.count
        pointer.pointee.flags = flags.rawValue
    }

    func copy(_ bytes: [UInt8], _ flags: Flags = []) throws(SpaceError) {
        try bytes.withBytes { (bytes) throws(SpaceError) in try copy(bytes, flags) }
    }

    func copy(text: String) throws(SpaceError) { try copy(Array(text.utf8)) }

    // MARK: As the caller wants them

    func give(_ match: Match, _ flags: Flags) throws(SpaceError) {
        if flags.contains(.json) {
            try give(try match.tuple(), flags)
        } else {
            let kind: Flags = match.isRecord ? .record : []
            if let lent = match.lent {
                try copy(lent.pointee.bytes, kind)
            } else {
                try copy(match.bytes, kind)
            }
        }
        set(id: match.id.rawValue, number: 0, deliveries: Int(match.deliveries))
    }

    func give(_ claim: HeldClaim, _ flags: Flags) throws(SpaceError) {
        try give(claim.tuple, flags)
        set(id: claim.id.rawValue, number: claim.number, deliveries: claim.deliveries)
    }

    func give(_ tuple: Tuple, _ flags: Flags) throws(SpaceError) { try give(OutputElement(tuple, flags)) }

    func give(_ value: Value, _ flags: Flags) throws(SpaceError) { try give(try OutputElement(value, flags)) }

    func give(_ element: OutputElement) throws(SpaceError) {
        try copy(element.bytes, element.flags)
        set(id: element.id, number: element.number, deliveries: element.deliveries)
        pointer.pointee.kind = element.kind
        pointer.pointee.pid = element.pid
        pointer.pointee.time_ms = element.time
    }
}

/// One result, in the form in which the caller wants it.
struct OutputElement: Sendable {
    let bytes: [UInt8]
    let flags: Flags
    var id: UInt64 = 0
    var number: UInt64 = 0
    var deliveries = 0
    var kind: UInt32 = 0
    var pid: Int32 = 0
    var time: Int64 = 0

    private init(_ bytes: [UInt8], _ flags: Flags) { (self.bytes, self.flags) = (bytes, flags) }

    init(text: String) { self.init(Array(text.utf8), []) }

    init(_ tuple: Tuple, _ flags: Flags) {
        if flags.contains(.json) {
            (bytes, self.flags) = (Array(tuple.json.utf8), [])
        } else {
            (bytes, self.flags) = (tuple.encoded, tuple.isRecord ? .record : [])
        }
    }

    /// A value; it was stored as one, or is known to be no deeper than stored values.
    init(_ value: Value, _ flags: Flags) throws(SpaceError) {
        if flags.contains(.json) {
            (bytes, self.flags) = (Array(value.json.utf8), [])
        } else {
            (bytes, self.flags) = (try value.uncheckedElement(), [])
        }
    }

    /// Values that enclose what was stored: if they are nested too deep for the tuple layer, they come as JSON.
    init(enclosing values: [Value], _ flags: Flags) {
        if !flags.contains(.json), let tuple = try? Tuple(checking: values) {
            self.init(tuple, flags)
        } else {
            self.init(Array(Value.array(values).json.utf8), flags.contains(.json) ? [] : .json)
        }
    }

    /// An object of a report that may enclose stored values: if it is nested too deep, it comes as JSON.
    init(report: JSONObject, _ flags: Flags) {
        if !flags.contains(.json), case .object(let record)? = try? Value(line: report.json),
            let tuple = try? Tuple(checking: record)
        {
            self.init(tuple, flags)
        } else {
            self.init(Array(report.json.utf8), flags.contains(.json) ? [] : .json)
        }
    }

    init(_ match: Match, _ flags: Flags) throws(SpaceError) {
        self.init(try match.tuple(), flags)
        (id, deliveries) = (match.id.rawValue, Int(match.deliveries))
    }

    init(_ claim: HeldClaim, _ flags: Flags) {
        self.init(claim.tuple, flags)
        (id, number, deliveries) = (claim.id.rawValue, claim.number, claim.deliveries)
    }

    init(_ item: borrowing QueueItem, _ flags: Flags) throws(SpaceError) {
        self = try OutputElement(item.value, flags)
        (id, number, deliveries) = (item.id, item.fencing, item.deliveries)
    }
}
