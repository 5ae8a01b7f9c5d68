import SpaceSystem

/// A key of `expiries`: what ends by itself, and when, or with the end of which holder.
///
///     0  kind: 1 tuple, 2 claim, 3 cell, each at a time; 4 tuple, 5 cell, each with the end of a holder
///     1  the time in milliseconds of the namespace's clock, or the holder (`ClaimHolder`)
///     9  the id of the tuple, or the key of the cell
///
/// The numbers are big-endian, so within a kind the next one due comes first, and what ends with a holder is adjacent.
package struct ExpiryKey: TableKey, Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        case tuple(UInt64)
        case claim(UInt64)
        case cell(String)
    }

    package enum Kind: UInt8, CaseIterable {
        case tuple = 1, claim = 2, cell = 3, tupleOfHolder = 4, cellOfHolder = 5

        /// The kinds that end at a time.
        package static let timed: [Kind] = [.tuple, .claim, .cell]
        /// The kinds that end with a holder.
        package static let held: [Kind] = [.tupleOfHolder, .cellOfHolder]

        var isHeld: Bool { self == .tupleOfHolder || self == .cellOfHolder }
    }

    package let subject: Subject
    /// The time in milliseconds of the namespace's clock; 0 in a key that names a holder.
    package let deadline: Int64
    /// The holder with which the subject ends; `nil` in a key that names a time.
    package let holder: ClaimHolder?

    package init(_ subject: Subject, at deadline: Int64) {
        self.subject = subject
        self.deadline = deadline
        holder = nil
    }

    /// A claim has no such key: its row names its holder.
    package init(_ subject: Subject, with holder: ClaimHolder) {
        self.subject = subject
        deadline = 0
        self.holder = holder
    }

    package init?(key bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.headSize, let kind = Kind(rawValue: bytes[0]) else { return nil }
        let tail = UnsafeRawBufferPointer(rebasing: bytes[Self.headSize...])
        switch kind {
        case .cell, .cellOfHolder:
            guard let key = String(key: tail) else { return nil }
            subject = .cell(key)
        case .claim:
            guard tail.count == 8 else { return nil }
            subject = .claim(tail.big(0))
        case .tuple, .tupleOfHolder:
            guard tail.count == 8 else { return nil }
            subject = .tuple(tail.big(0))
        }
        holder = kind.isHeld ? ClaimHolder(raw: bytes.big(1)) : nil
        deadline = kind.isHeld ? 0 : bytes.big(1)
    }

    package var kind: Kind {
        switch subject {
        case .tuple: holder == nil ? .tuple : .tupleOfHolder
        case .claim: .claim
        case .cell: holder == nil ? .cell : .cellOfHolder
        }
    }

    private static let headSize = 9
    private static let idKeySize = 17

    @inline(__always)
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let word = holder?.raw ?? UInt64(bitPattern: deadline)
        switch subject {
        case .tuple(let id), .claim(let id):
            var storage: (UInt64, UInt64, UInt64) = (0, 0, 0)
            return try withUnsafeMutableBytes(of: &storage) { (bytes) throws(E) -> R in
                bytes[0] = kind.rawValue
                bytes.storeBytes(of: word.bigEndian, toByteOffset: 1, as: UInt64.self)
                bytes.storeBytes(of: id.bigEndian, toByteOffset: Self.headSize, as: UInt64.self)
                return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<Self.idKeySize]))
            }
        case .cell(let key):
            return try withBytes(ofCell: key, word, body)
        }
    }

    @inline(never)
    private func withBytes<R, E: Error>(
        ofCell key: String,
        _ word: UInt64,
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        var bytes = Self.start(kind, word)
        bytes += key.utf8
        return try bytes.withBytes(body)
    }

    /// The bytes with which the keys of a kind begin, from a time or a holder on.
    package static func start(_ kind: Kind, _ word: UInt64 = 0) -> [UInt8] {
        var bytes = [kind.rawValue]
        withUnsafeBytes(of: word.bigEndian) { bytes += $0 }
        return bytes
    }
}
