/// A user's name, compared by its UTF-8 bytes: the key of a cell, the name of a lock, a field of a record.
///
/// Swift's strings compare by canonical equivalence: "é" as one scalar (U+00E9) equals "é" as two (U+0065 U+0301). In
/// the database they are two names, because their encodings differ. So a name is never a key of a `[String: …]`, a
/// member of a `Set<String>`, or an operand of `==` between strings: each of these treats the two names as equal. A
/// `Name` wraps the string without copying it.
package struct Name: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name as it was given.
    package let text: String

    /// Wraps a string.
    package init(_ text: String) { self.text = text }

    /// Decodes and copies the bytes of a name in the database.
    package init(utf8 bytes: some Collection<UInt8>) { text = String(decoding: bytes, as: UTF8.self) }

    /// Whether both have the same bytes.
    package static func == (left: Name, right: Name) -> Bool { left.text.compareUTF8(right.text) == 0 }

    /// Whether the first's bytes come before the second's, as in the encoding.
    package static func < (left: Name, right: Name) -> Bool { left.text.compareUTF8(right.text) < 0 }

    /// Feeds the UTF-8 bytes, because hashing the string itself would normalize it.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // UTF-8 contains no 0xff, so this byte separates names that follow each other in a hash.
        hasher.combine(0xff as UInt8)
    }

    package var description: String { text }
}

extension String {
    /// Whether both have the same UTF-8 bytes; to `==`, canonically equivalent strings are equal.
    package func isSame(as other: String) -> Bool { compareUTF8(other) == 0 }
}

extension String? {
    /// Whether both have the same UTF-8 bytes, or both are `nil`.
    package func isSame(as other: String?) -> Bool { map(Name.init) == other.map(Name.init) }
}

extension Sequence<String> {
    /// The strings in the order of their UTF-8 bytes, which is the order in the database.
    package func sortedByBytes() -> [String] { sorted { $0.compareUTF8($1) < 0 } }
}
