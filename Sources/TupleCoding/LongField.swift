/// The extent of a field that is a long string or long bytes without escapes.
///
/// A pass over its content finds the end of such a field. The extent saves the next pass: the encoder hands it to the
/// hash of a new tuple, and the match to the decoder.
@usableFromInline
package struct LongField: Sendable {
    /// The length from which the extent is kept; to search a shorter field again costs little.
    package static let leastLength = 1024

    /// The place of the type code, or `Int.max` if no field is known.
    @usableFromInline let start: Int
    /// The place after the terminator.
    @usableFromInline let end: Int

    @inlinable
    package init(start: Int = .max, end: Int = .max) {
        self.start = start
        self.end = end
    }
}

extension UnsafeRawBufferPointer {
    /// The long field of this type that begins at `start`; `nil` if there is another element, a shorter one, or one with
    /// escapes.
    ///
    /// The content is searched up to the first zero.
    func longField(from start: Int, of type: FieldType) -> LongField? {
        guard count &- start >= LongField.leastLength, type.hasContent(self[start]),
            let zero = firstZero(from: start &+ 1), zero &- start >= LongField.leastLength
        else { return nil }
        let end = zero &+ 1
        return end < count && self[end] == TypeCode.escape ? nil : LongField(start: start, end: end)
    }

    /// A long field, or no field; `nil` if the bytes are not fields up to the end.
    var longFieldOfAll: LongField? {
        var long = LongField()
        var index = 0
        while index < count {
            if let found = longField(from: index, of: .any) {
                long = found
                index = found.end
            } else {
                guard let end = elementEnd(from: index, nested: false) else { return nil }
                index = end
            }
        }
        return long
    }
}

extension EncodedTuple {
    /// The same tuple, in which this long field is known.
    package func knowing(_ long: LongField) -> EncodedTuple {
        EncodedTuple(bytes: bytes, isRecord: isRecord, long: long)
    }

    /// The end of the field that begins at `start`, or `nil` if the bytes there are not a field.
    @inline(__always)
    func fieldEnd(from start: Int) -> Int? {
        start == long.start ? long.end : bytes.elementEnd(from: start, nested: false)
    }
}
