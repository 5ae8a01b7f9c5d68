/// Encodes the values of messages: numbers in network order, and a 32-bit count before strings, bytes and lists.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func number(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func flag(_ value: Bool) { number(value ? 1 : 0 as UInt8) }

    mutating func count(_ value: Int) { number(UInt32(truncatingIfNeeded: value)) }

    mutating func blob(_ value: [UInt8]) {
        count(value.count)
        bytes.append(contentsOf: value)
    }

    /// Appends bytes without a count.
    mutating func raw(_ value: ArraySlice<UInt8>) { bytes.append(contentsOf: value) }

    mutating func string(_ value: String) {
        count(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    mutating func list<Element>(_ values: [Element], _ encode: (inout WireWriter, Element) -> Void) {
        count(values.count)
        for value in values { encode(&self, value) }
    }
}
