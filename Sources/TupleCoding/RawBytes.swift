import Glibc

// Helpers for borrowed bytes. The subscripts of UnsafeRawBufferPointer are checked only in debug builds
// (`_debugPrecondition`), so each function here checks the bounds of its own reads.

extension UnsafeRawBufferPointer {
    /// The bytes in `range`, whose bounds the caller has checked.
    @usableFromInline
    package func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }

    /// The position of the first 0x00 at or after `start`, or `nil` if there is none.
    @usableFromInline
    package func firstZero(from start: Int) -> Int? {
        var index = start
        while index &+ 8 <= count {
            guard index &- start < 16 else { return firstZeroOfMany(from: index) }
            let word = loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
            // The lowest flagged byte is a real zero; a borrow flags only bytes above a real zero.
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if zeros != 0 { return index &+ zeros.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        while index < count {
            if self[index] == 0 { return index }
            index &+= 1
        }
        return nil
    }

    /// The same by memchr(3), which uses the processor's widest registers.
    ///
    /// Many strings end soon, and the call would cost them more than a look at their bytes.
    @inline(never)
    private func firstZeroOfMany(from start: Int) -> Int? {
        guard let base = baseAddress, let found = memchr(base + start, 0, count &- start) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// Whether the bytes at `offset` begin with `prefix`.
    package func hasBytes(_ prefix: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        let length = prefix.count
        guard offset >= 0, offset <= count, length <= count - offset else { return false }
        var index = 0
        while index &+ 8 <= length {
            let ours = loadUnaligned(fromByteOffset: offset &+ index, as: UInt64.self)
            if ours != prefix.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
            index &+= 8
        }
        while index < length {
            if self[offset &+ index] != prefix[index] { return false }
            index &+= 1
        }
        return true
    }

    /// The order of the bytes, as memcmp(3) and then the lengths give it: negative, zero or positive.
    package func compare(_ other: UnsafeRawBufferPointer) -> Int {
        let shared = Swift.min(count, other.count)
        var index = 0
        while index &+ 8 <= shared {
            let ours = loadUnaligned(fromByteOffset: index, as: UInt64.self).bigEndian
            let theirs = other.loadUnaligned(fromByteOffset: index, as: UInt64.self).bigEndian
            if ours != theirs { return ours < theirs ? -1 : 1 }
            index &+= 8
        }
        while index < shared {
            if self[index] != other[index] { return self[index] < other[index] ? -1 : 1 }
            index &+= 1
        }
        return count - other.count
    }

    /// The position of the first byte that is not UTF-8 (RFC 3629), or `nil` if all bytes are.
    package func firstInvalidUTF8() -> Int? {
        var index = 0
        while index < count {
            while index &+ 8 <= count,
                loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index &+= 8
            }
            guard index < count else { break }
            let lead = self[index]
            let length: Int
            // The second byte's range excludes overlong forms, surrogates and scalars above U+10FFFF.
            let second: ClosedRange<UInt8>
            switch lead {
            case 0x00...0x7f:
                index &+= 1
                continue
            case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
            case 0xe0: (length, second) = (3, 0xa0...0xbf)
            case 0xed: (length, second) = (3, 0x80...0x9f)
            case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
            case 0xf0: (length, second) = (4, 0x90...0xbf)
            case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
            case 0xf4: (length, second) = (4, 0x80...0x8f)
            default: return index
            }
            guard length <= count - index, second.contains(self[index &+ 1]) else { return index }
            for position in 2..<Swift.max(length, 2) where self[index &+ position] & 0xc0 != 0x80 { return index }
            index &+= length
        }
        return nil
    }
}

extension String {
    /// The order of the UTF-8 bytes, which is the order of the encoding; to `==`, canonically equivalent strings are
    /// equal.
    package func compareUTF8(_ other: String) -> Int {
        var ours = self
        var theirs = other
        return ours.withUTF8 { left in
            theirs.withUTF8 { right in UnsafeRawBufferPointer(left).compare(UnsafeRawBufferPointer(right)) }
        }
    }
}
