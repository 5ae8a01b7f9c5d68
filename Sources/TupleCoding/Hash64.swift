// The hash of index keys and of wait slots. Processes must agree on it, so it is stated here in full; Swift's Hasher
// has a different seed in every process.
//
//     fold(a, b)    the 128-bit product of a and b, its high half xor its low half
//     hash64(bytes) h = K0 xor (count * K1)
//                   for each full 8 bytes, as a little-endian word w:  h = fold(h xor w, K2)
//                   if 1 to 7 bytes remain, as one word w, zero-extended:  h = fold(h xor w, K3)
//                   return fold(h xor (h >> 29), K4)
//     mix(h, n)     fold(h xor K5, (K1 * (n + 1)) or 1)
//
// Arithmetic wraps at 64 bits. K0…K5 are the fractional parts of the square roots of 2, 3, 5, 7, 11 and 13 (as in
// SHA-512); the constants that are factors are made odd. In doubt, the test vectors in HashTests.swift decide.
//
// The hash of a tuple's bound fields is the wrapping sum of mix(hash64(encoded field), position) over these fields, so
// that the terms of one tuple serve every set of positions. The fields of a record have no positions; their terms are
// mix(hash64(encoded name, encoded value), recordMark). Collisions are harmless, because each tuple that an index
// yields is compared with the template.

@usableFromInline
package enum Hash64 {
    static let k0: UInt64 = 0x6a09_e667_f3bc_c908
    static let k1: UInt64 = 0xbb67_ae85_84ca_a73b
    static let k2: UInt64 = 0x3c6e_f372_fe94_f82b
    static let k3: UInt64 = 0xa54f_f53a_5f1d_36f1
    static let k4: UInt64 = 0x510e_527f_ade6_82d1
    static let k5: UInt64 = 0x9b05_688c_2b3e_6c1f

    /// The number that the pairs of a record have in place of a position; no tuple has that many fields.
    static let recordMark: UInt64 = 0x7265_636f_7264

    /// The hash64 of some bytes.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        var hash = k0 ^ (UInt64(truncatingIfNeeded: count) &* k1)
        var index = 0
        while count &- index >= 8 {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
            hash = fold(hash ^ word, k2)
            index &+= 8
        }
        if index < count { hash = fold(hash ^ lastWord(bytes, from: index), k3) }
        return fold(hash ^ hash >> 29, k4)
    }

    /// The last 1 to 7 bytes as a little-endian word.
    @inline(__always)
    private static func lastWord(_ bytes: UnsafeRawBufferPointer, from index: Int) -> UInt64 {
        let count = bytes.count &- index
        if count >= 4 {
            // The two loads overlap; the shared bytes are the same in both.
            let low = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
            let high = bytes.loadUnaligned(fromByteOffset: bytes.count &- 4, as: UInt32.self).littleEndian
            return UInt64(low) | UInt64(high) &<< UInt64(truncatingIfNeeded: (count &- 4) &* 8)
        }
        var word = UInt64(bytes[index])
        if count > 1 { word |= UInt64(bytes[index &+ 1]) << 8 }
        if count > 2 { word |= UInt64(bytes[index &+ 2]) << 16 }
        return word
    }

    /// The term of a field with this hash at `position`.
    @inline(__always)
    package static func mix(_ hash: UInt64, _ position: UInt64) -> UInt64 {
        fold(hash ^ k5, (k1 &* (position &+ 1)) | 1)
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

extension EncodedTuple {
    /// The hash of the fields that `shape` binds, or `nil` if no template of that shape can match this tuple.
    package func hash(of shape: Shape) -> UInt64? {
        switch shape {
        case .anything: return 0
        case .fields(let arity, let bound): return isRecord ? nil : hash(arity: arity, bound: bound)
        case .record(let names): return isRecord ? hash(names: names) : nil
        }
    }

    private func hash(arity: Int, bound: UInt64) -> UInt64? {
        var hash: UInt64 = 0
        var position = 0
        var index = 0
        while index < bytes.count {
            guard position < arity, let end = fieldEnd(from: index) else { return nil }
            if position < Shape.maximumBoundPositions, bound & 1 << UInt64(position) != 0 {
                hash &+= Hash64.mix(Hash64.hash(bytes.slice(index..<end)), UInt64(position))
            }
            index = end
            position += 1
        }
        return position == arity ? hash : nil
    }

    /// Stores the terms that the first fields of a tuple without names have in the hash of a shape that binds them.
    ///
    /// - Returns: The number of fields, or -1 if the bytes are malformed.
    package func fillTerms(_ terms: UnsafeMutableBufferPointer<UInt64>) -> Int {
        var position = 0
        var index = 0
        while index < bytes.count {
            guard let end = bytes.elementEnd(from: index, nested: false) else { return -1 }
            if position < terms.count {
                terms[position] = Hash64.mix(Hash64.hash(bytes.slice(index..<end)), UInt64(position))
            }
            index = end
            position += 1
        }
        return position
    }

    /// The hash of the named fields; both lists of names are sorted, so one pass finds all.
    private func hash(names: [String]) -> UInt64? {
        var hash: UInt64 = 0
        var next = names.startIndex
        let end = bytes.forEachPair(from: 0) { name, value in
            if next < names.endIndex, bytes.isString(names[next], at: name) {
                hash &+= Hash64.mix(Hash64.hash(bytes.slice(name.lowerBound..<value.upperBound)), Hash64.recordMark)
                next += 1
            }
            return true
        }
        return end == bytes.count && next == names.endIndex ? hash : nil
    }

    /// Calls `body` with the hash of each name and value of a record: the bound hash of a template that binds only that
    /// pair.
    package func forEachPairHash(_ body: (UInt64) -> Void) {
        guard isRecord else { return }
        _ = bytes.forEachPair(from: 0) { name, value in
            body(Hash64.mix(Hash64.hash(bytes.slice(name.lowerBound..<value.upperBound)), Hash64.recordMark))
            return true
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the element in `extent` is this string.
    fileprivate func isString(_ string: String, at extent: Range<Int>) -> Bool {
        var string = string
        return string.withUTF8 { content in
            let content = UnsafeRawBufferPointer(content)
            // The length between the type code and the terminator. Escapes make the encoded form longer than the
            // string.
            let length = extent.count &- 2
            if length == content.count {
                return hasBytes(content, at: extent.lowerBound &+ 1) && content.firstZero(from: 0) == nil
            }
            guard length > content.count else { return false }
            var index = extent.lowerBound &+ 1
            for byte in content {
                guard index < extent.upperBound &- 1, self[index] == byte else { return false }
                index &+= byte == 0 ? 2 : 1
            }
            return index == extent.upperBound &- 1
        }
    }
}
