/// Decodes the values of messages and trusts none of them: each count is checked against the bytes that are there.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var remaining: Int { bytes.count - position }

    private mutating func take(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        guard count <= remaining else { throw WireError("a value ends behind its message") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(WireError) -> Number {
        var value: Number = 0
        for byte in try take(MemoryLayout<Number>.size) { value = value << 8 | Number(truncatingIfNeeded: byte) }
        return value
    }

    mutating func flag() throws(WireError) -> Bool {
        switch try number(UInt8.self) {
        case 0: return false
        case 1: return true
        case let other: throw WireError("a flag is neither 0 nor 1, but \(other)")
        }
    }

    mutating func blob() throws(WireError) -> [UInt8] { Array(try take(Int(try number(UInt32.self)))) }

    mutating func string() throws(WireError) -> String {
        guard let text = String(validating: try take(Int(try number(UInt32.self))), as: UTF8.self) else {
            throw WireError("a string is not UTF-8")
        }
        return text
    }

    /// - Parameters:
    ///   - smallest: How many bytes the smallest element has, at least 1: a count that the rest of the message can't hold
    ///     is refused before any memory is reserved for it.
    ///   - decode: Reads one element.
    /// - Returns: The elements, in order.
    /// - Throws: A ``WireError`` if the message ends before its elements do, or `decode` refuses one.
    mutating func list<Element>(
        smallest: Int,
        _ decode: (inout WireReader) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        let count = Int(try number(UInt32.self))
        guard count <= remaining / smallest else { throw WireError("a list of \(count) ends behind its message") }
        var values: [Element] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try decode(&self)) }
        return values
    }

    /// Checks that the message ends here.
    func finish() throws(WireError) {
        guard remaining == 0 else { throw WireError("a message has \(remaining) bytes too many") }
    }
}
