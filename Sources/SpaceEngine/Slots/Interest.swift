/// What a waiter waits for, in 16 bytes that a writer can compare without reading the template.
///
/// It lets a writer skip most waiters that can't match, and never one that can. Types, ranges and patterns are not in
/// it.
///
/// A shape of field tuples is its arity and the mask of its bound positions; the hash is the sum of the bound fields'
/// hashes. For records, the hash is that of one bound name and value, so the processes need no common table of shapes.
package struct Interest: Hashable, Sendable {
    package var selector: UInt64
    package var hash: UInt64

    package enum Form: UInt64, Sendable { case none, anything, fields, record, cell, hold }

    fileprivate static let taking: UInt64 = 1 << 63
    private static let hashed: UInt64 = 1 << 62
    private static let maskBits: UInt64 = 48
    private static let largestArity = 0x3FF

    package init(selector: UInt64, hash: UInt64) {
        self.selector = selector
        self.hash = hash
    }

    private init(_ form: Form, arity: Int = 0, mask: UInt64 = 0, hash: UInt64?, isTaking: Bool) {
        selector = form.rawValue << 58 | UInt64(arity) << Self.maskBits | mask
        if isTaking { selector |= Self.taking }
        if hash != nil { selector |= Self.hashed }
        self.hash = hash ?? 0
    }

    package init(_ template: TemplateForm, isTaking: Bool) {
        switch template.shape {
        case .fields(let arity, let bound) where arity < Self.largestArity && bound >> Self.maskBits == 0:
            self.init(
                .fields,
                arity: arity,
                mask: bound,
                hash: bound == 0 ? nil : template.boundHash,
                isTaking: isTaking
            )
        case .record:
            self.init(.record, hash: template.firstPairHash, isTaking: isTaking)
        default:
            self.init(.anything, hash: nil, isTaking: isTaking)
        }
    }

    /// Makes the interest of a waiter that waits for a cell to be set.
    package init(cell key: String) {
        var key = key
        self.init(.cell, hash: key.withUTF8 { Hash64.hash(UnsafeRawBufferPointer($0)) }, isTaking: false)
    }

    /// Makes the interest of a waiter in a queue, which waits until its place is served or gone.
    package init(hold ticket: UInt64) { self.init(.hold, hash: ticket, isTaking: false) }

    /// Makes the interest of a waiter that waits for any change of a named object.
    ///
    /// Its hash may equal a ticket, which costs one look.
    package init(object name: String) {
        var name = name
        self.init(.hold, hash: name.withUTF8 { Hash64.hash(UnsafeRawBufferPointer($0)) }, isTaking: false)
    }

    /// What the waiter waits for, except for the hash and whether it takes.
    package var kind: UInt64 { selector & ~Self.taking }
    package var form: Form { Form(rawValue: selector >> 58 & 0xF) ?? .none }
    package var isTaking: Bool { selector & Self.taking != 0 }
    /// Whether the waiter waits for a tuple.
    package var isOfTuple: Bool {
        switch form {
        case .anything, .fields, .record: true
        case .none, .cell, .hold: false
        }
    }
    /// Whether what the waiter waits for may appear because a process dies: a tuple may return, or a place become free.
    ///
    /// A cell that ends with its holder is no reason to look: a waiter for a cell waits until the cell is set.
    package var mayComeFromTheDead: Bool { form != .cell }
    /// Where the waiter is counted (`WaitCounts`), and in which line its ticket is (`TicketTable`): waiters that differ
    /// in anything, even only in whether they take, are scattered.
    @inline(__always)
    var scatter: UInt64 {
        // Tickets are numbered from 1; the multiplication (by 2⁶⁴ ÷ the golden ratio) scatters them too.
        (hash ^ (selector << 7 | selector >> 57)) &* 0x9E37_79B9_7F4A_7C15
    }
    /// The line of a taker, 0 to 63.
    @inline(__always)
    var line: Int { Int(scatter >> 58) }
    package var isHashed: Bool { selector & Self.hashed != 0 }
    package var arity: Int { Int(selector >> Self.maskBits & UInt64(Self.largestArity)) }
    package var mask: UInt64 { selector & (1 << Self.maskBits - 1) }
}
