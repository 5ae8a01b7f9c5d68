/// A namespace's name, and the folder name that stands for it.
///
/// The folder's name is the percent-encoded name: letters, digits, `-`, `_` and inner dots stand for themselves, and
/// every other byte of the UTF-8 form becomes `%XX`. So no namespace's folder name begins with a dot, and the root's
/// own folders (`.nursery`, `.graveyard`) can't be mistaken for namespaces.
package struct NamespaceName: Hashable, Sendable, CustomStringConvertible {
    /// The longest encoded name, in bytes: what Linux file systems allow (NAME_MAX), less space for a graveyard suffix.
    static let maximumEncodedLength = 200

    package let text: String
    /// The name in ASCII, by which names are compared and ordered: each name has one encoded form of its own.
    package let encoded: String

    package static func == (left: NamespaceName, right: NamespaceName) -> Bool { left.encoded == right.encoded }

    package func hash(into hasher: inout Hasher) { hasher.combine(encoded) }

    package var description: String { text }

    /// Checks a name.
    ///
    /// - Throws: `invalidName` for the empty name, for `.` and `..`, for names with `/` or NUL, and for names whose
    ///   encoded form is longer than 200 bytes.
    package init(_ text: String) throws(SpaceError) {
        func refuse(_ reason: String) -> SpaceError {
            SpaceError(
                .invalidName,
                namespace: text,
                reason: reason,
                advice:
                    "a name is 1 to \(Self.maximumEncodedLength) bytes of UTF-8 without '/' and NUL, not '.' or '..'"
            )
        }
        if text.isEmpty { throw refuse("the name is empty") }
        if text == "." || text == ".." { throw refuse("'.' and '..' are no names") }
        if text.utf8.contains(0) { throw refuse("the name has a NUL in it") }
        if text.utf8.contains(UInt8(ascii: "/")) { throw refuse("the name has a '/' in it") }
        guard text.utf8.count <= Self.maximumEncodedLength else { throw refuse("the name is too long") }
        var encoded = ""
        for (position, byte) in text.utf8.enumerated() {
            if Self.standsForItself(byte, at: position) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%" + String(byte >> 4, radix: 16, uppercase: true)
                encoded += String(byte & 15, radix: 16, uppercase: true)
            }
        }
        guard encoded.utf8.count <= Self.maximumEncodedLength else {
            throw refuse("the name is too long in its percent-encoded form")
        }
        self.text = text
        self.encoded = encoded
    }

    /// The name that a folder stands for, or `nil` if no name is encoded as this folder name.
    package init?(folder: String) {
        var bytes: [UInt8] = []
        var rest = folder.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        guard let text = String(validating: bytes, as: UTF8.self), let name = try? NamespaceName(text),
            name.encoded == folder
        else { return nil }
        self = name
    }

    private static func standsForItself(_ byte: UInt8, at position: Int) -> Bool {
        byte.isOfWord || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") && position > 0
    }
}
