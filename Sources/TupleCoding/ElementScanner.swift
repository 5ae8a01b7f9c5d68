// Finds where encoded elements begin and end without decoding them; matching and hashing use it.
//
// The bytes may be anything: every function reads only inside them, and returns `nil` if they are not an element. A
// count of open containers, bounded by TupleLimits.maximumDepth, replaces recursion.

extension UnsafeRawBufferPointer {
    /// The end of the element that begins at `start`, or `nil` if the bytes are not an element.
    ///
    /// `nested`: Whether the element is inside an array or object, where null is 00 FF. The structure is checked, but
    /// not UTF-8 and not the order of names.
    package func elementEnd(from start: Int, nested: Bool) -> Int? {
        var index = start
        var depth = 0
        repeat {
            guard index < count else { return nil }
            let code = self[index]
            index &+= 1
            switch code {
            case TypeCode.string, TypeCode.bytes:
                guard let end = escapedEnd(from: index) else { return nil }
                index = end
            case TypeCode.smallestInt...TypeCode.largestInt:
                index &+= Self.integerLength(code)
            case TypeCode.null:
                if depth > 0 || nested {
                    if index < count, self[index] == TypeCode.escape {
                        index &+= 1
                    } else {
                        guard depth > 0 else { return nil }
                        depth &-= 1
                    }
                }
            case TypeCode.array, TypeCode.record:
                depth &+= 1
                guard depth <= TupleLimits.maximumDepth else { return nil }
            case TypeCode.double:
                index &+= 8
            case TypeCode.false, TypeCode.true:
                break
            case TypeCode.uuid:
                index &+= 16
            default:
                return nil
            }
        } while depth > 0
        return index <= count ? index : nil
    }

    /// How many bytes follow an integer's type code.
    @inline(__always)
    static func integerLength(_ code: UInt8) -> Int {
        let distance = Int(code) &- Int(TypeCode.zero)
        return distance < 0 ? 0 &- distance : distance
    }

    /// The end of escaped content that begins at `start`, after its terminator.
    func escapedEnd(from start: Int) -> Int? {
        var index = start
        while let zero = firstZero(from: index) {
            index = zero &+ 1
            if index < count, self[index] == TypeCode.escape { index &+= 1 } else { return index }
        }
        return nil
    }

    /// The same, and whether the content has no escapes.
    @inline(__always)
    func contentEnd(from start: Int) -> (end: Int, isPlain: Bool)? {
        guard let zero = firstZero(from: start) else { return nil }
        let end = zero &+ 1
        guard end < count, self[end] == TypeCode.escape else { return (end, true) }
        return escapedEnd(from: end &+ 1).map { ($0, false) }
    }

    /// The integer that begins at `start`, and its end.
    ///
    /// It is `nil` for any other element, for an integer in a longer form than needed, and for an integer beyond Int64.
    package func integer(at start: Int) -> (value: Int, end: Int)? {
        guard start >= 0, start < count else { return nil }
        let code = self[start]
        guard TypeCode.smallestInt <= code, code <= TypeCode.largestInt else { return nil }
        let length = Self.integerLength(code)
        guard length < count - start else { return nil }
        let end = start &+ 1 &+ length
        var payload: UInt64 = 0
        if start &+ 9 <= count {
            // A whole word, of which the upper bytes are the integer's.
            let word = loadUnaligned(fromByteOffset: start &+ 1, as: UInt64.self).bigEndian
            payload = word >> UInt64(64 - 8 * length)
        } else {
            for index in start &+ 1..<end { payload = payload << 8 | UInt64(self[index]) }
        }
        if code < TypeCode.zero {
            // The complement of the magnitude in `length` bytes.
            let magnitude = length == 8 ? ~payload : (1 << UInt64(length * 8)) - 1 - payload
            guard magnitude >> UInt64((length - 1) * 8) != 0, magnitude <= 1 << 63 else { return nil }
            return (Int(truncatingIfNeeded: 0 &- magnitude), end)
        }
        guard length == 0 || payload >> UInt64((length - 1) * 8) != 0, payload <= UInt64(Int64.max) else { return nil }
        return (Int(payload), end)
    }

    /// The ordered bits of the double that begins at `start`, or `nil` for any other element.
    package func doubleBits(at start: Int) -> UInt64? {
        guard start >= 0, count - start >= 9, self[start] == TypeCode.double else { return nil }
        return loadUnaligned(fromByteOffset: start &+ 1, as: UInt64.self).bigEndian
    }

    /// Whether a container ends at `offset`, with a 0x00 that is no null.
    package func isContainerEnd(at offset: Int) -> Bool {
        guard offset < count, self[offset] == 0 else { return false }
        return !(offset &+ 1 < count && self[offset &+ 1] == TypeCode.escape)
    }

    /// How many arrays and objects enclose each other at the deepest level.
    package var nesting: Int {
        var index = 0
        var depth = 0
        var deepest = 0
        while index < count {
            let code = self[index]
            if code == TypeCode.array || code == TypeCode.record {
                depth += 1
                deepest = Swift.max(deepest, depth)
                index += 1
            } else if depth > 0, isContainerEnd(at: index) {
                depth -= 1
                index += 1
            } else {
                guard let end = elementEnd(from: index, nested: depth > 0) else { return Int.max >> 1 }
                index = end
            }
        }
        return deepest
    }

    /// Calls `body` with the extent of each top-level element.
    ///
    /// It returns `false` if `body` returned `false` to stop, or if the bytes are not elements up to the end.
    package func forEachElement(_ body: (Range<Int>) -> Bool) -> Bool {
        var index = 0
        while index < count {
            guard let end = elementEnd(from: index, nested: false), body(index..<end) else { return false }
            index = end
        }
        return true
    }

    /// Calls `body` with the extents of each name and value of the object that begins at `start`.
    ///
    /// It returns the object's end, or `nil` if `body` returned `false` to stop, or if the bytes are no object.
    package func forEachPair(from start: Int, _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Bool) -> Int? {
        guard start < count, self[start] == TypeCode.record else { return nil }
        var index = start &+ 1
        while !isContainerEnd(at: index) {
            guard index < count, self[index] == TypeCode.string,
                let middle = escapedEnd(from: index &+ 1),
                !isContainerEnd(at: middle),
                let end = elementEnd(from: middle, nested: true),
                body(index..<middle, middle..<end)
            else { return nil }
            index = end
        }
        return index &+ 1
    }
}
