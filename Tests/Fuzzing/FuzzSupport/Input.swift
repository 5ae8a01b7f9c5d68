/// A fuzzer's input, read from the front; at its end everything reads as zero.
package struct Input {
    private var bytes: ArraySlice<UInt8>

    package init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = ArraySlice(UnsafeBufferPointer(start: start, count: count))
    }

    package var isEmpty: Bool { bytes.isEmpty }

    package mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// A number below `bound`, from two bytes.
    package mutating func number(below bound: Int) -> Int {
        let number = Int(byte()) << 8 | Int(byte())
        return bound > 0 ? number % bound : 0
    }

    /// Up to `limit` bytes; how many the next byte says.
    package mutating func bytes(atMost limit: Int) -> [UInt8] {
        let count = min(Int(byte()), limit, bytes.count)
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }
}
