package import ClusterStore
package import SpaceEngine

/// The keys of a space in the store.
///
///     <prefix>/members/<number>                            a member, on its lease
///     <prefix>/next-member                                 the number of the next one
///     <prefix>/<space>/id/<namespace>                      the namespace's life now
///     <prefix>/<space>/live/<namespace>/<life>/…           what each machine watches (``LiveKey``)
///     <prefix>/<space>/base/<namespace>/<life>/<number>/<publisher>/<chunk>
///                                                          the rows of a base
///     <prefix>/<space>/gone/<namespace>/<life>             a life that was ended, for 30 days
///
/// The lives of all namespaces have a prefix of their own, so a daemon finds them without reading anything else, and so
/// have the bases, so a watch does not deliver each base to each machine. Names are percent-encoded, as folders' names
/// are; numbers of entries and chunks are hexadecimal with a fixed width, so their order is the keys' order.
package struct ClusterKeys: Hashable, Sendable {
    package let prefix: String
    private let space: String

    /// Each entry of a log has the prefix in each of its keys.
    package static let mostPrefixBytes = 255

    /// - Throws: `invalidName` if the prefix or the space's name can't be part of a key.
    package init(prefix: String, space: String) throws(SpaceError) {
        let name = try NamespaceName(space)
        guard !["members", "next-member"].contains(name.encoded) else {
            throw SpaceError(
                .invalidName,
                reason: "a space can't be called \(space): members have keys of this name",
                advice: "choose another name for the space"
            )
        }
        guard (1...Self.mostPrefixBytes).contains(prefix.utf8.count), !prefix.hasSuffix("/"), !prefix.utf8.contains(0)
        else {
            throw SpaceError(
                .invalidName,
                reason:
                    "the prefix of the keys is empty or has more than \(Self.mostPrefixBytes) bytes, ends with a slash, "
                    + "or has a NUL in it",
                advice: "choose one such as /spaces"
            )
        }
        self.prefix = prefix
        self.space = name.encoded
    }

    package var nextMember: String { "\(prefix)/next-member" }
    package var members: StoreRange { .prefix("\(prefix)/members/") }
    package func member(_ number: UInt32) -> String { "\(prefix)/members/\(number)" }

    /// The number of the member that a key belongs to.
    package func member(ofKey key: String) -> UInt32? {
        key.after("\(prefix)/members/").flatMap { UInt32(key: $0) }
    }

    package var ids: StoreRange { .prefix("\(prefix)/\(space)/id/") }
    package func id(_ name: NamespaceName) -> String { "\(prefix)/\(space)/id/\(name.encoded)" }

    /// The name of the namespace whose life a key holds.
    package func name(ofKey key: String) -> NamespaceName? {
        key.after("\(prefix)/\(space)/id/").flatMap { NamespaceName(folder: String($0)) }
    }

    /// What the machines watch of all namespaces.
    package var live: StoreRange { .prefix("\(prefix)/\(space)/live/") }

    /// What the key of a namespace's life begins with, as in ``NamespaceKeys/live``.
    package func live(ofKey key: String) -> Substring? {
        let separator = UInt8(ascii: "/")
        guard let name = key.after("\(prefix)/\(space)/live/"), let first = name.utf8.firstIndex(of: separator),
            let second = name.utf8[name.utf8.index(after: first)...].firstIndex(of: separator)
        else { return nil }
        return key[...second]
    }

    package func namespace(_ name: NamespaceName, _ life: NamespaceLife) -> NamespaceKeys {
        NamespaceKeys(
            name: name,
            life: life,
            id: id(name),
            live: "\(prefix)/\(space)/live/\(name.encoded)/\(life)/",
            base: "\(prefix)/\(space)/base/\(name.encoded)/\(life)/",
            gone: "\(prefix)/\(space)/gone/\(name.encoded)/\(life)"
        )
    }
}

/// The keys of one life of a namespace.
package struct NamespaceKeys: Hashable, Sendable {
    package let name: NamespaceName
    package let life: NamespaceLife
    package let id: String
    /// What each key that the machines watch begins with.
    package let live: String
    fileprivate let base: String
    /// Exists when the life was ended, for a while.
    package let gone: String

    package func key(_ key: LiveKey) -> String { live + key.text }

    /// Whether the namespace's life in the store is still this one.
    var isSameLife: StoreCompare { .value(id, NumberValue(life.number).encoded) }

    /// What a key stands for; `nil` if it is none of these.
    package func key(of text: String) -> LiveKey? { text.after(live).flatMap { LiveKey(String($0)) } }

    package var all: StoreRange { .prefix(live) }
    package var wants: StoreRange { .prefix(live + "want/") }
    package var joined: StoreRange { .prefix(live + "joined/") }
    package var owners: StoreRange { .prefix(live + "owners/") }

    /// The keys of the entries up to one, as prefixes of their digits: few, however many entries there are.
    package func log(through entry: UInt64) -> [StoreRange] {
        let digits = Array((entry + 1).hexadecimal(16))
        return digits.indices.flatMap { index in
            // Each digit below the bound's own, behind the same beginning.
            (0..<(digits[index].hexDigitValue ?? 0)).map { digit in
                .prefix(live + "log/" + String(digits[..<index]) + String(digit, radix: 16))
            }
        }
    }

    package var bases: StoreRange { .prefix(base) }
    package func chunks(_ number: UInt64, of publisher: UInt32) -> StoreRange {
        .prefix("\(base)\(number.hexadecimal(16))/\(publisher)/")
    }
    package func chunk(_ number: UInt64, of publisher: UInt32, _ chunk: UInt32) -> String {
        "\(base)\(number.hexadecimal(16))/\(publisher)/\(chunk.hexadecimal(8))"
    }

    /// The chunks that a key of a base belongs to.
    package func chunks(ofKey key: String) -> (number: UInt64, publisher: UInt32)? {
        guard let parts = key.after(base)?.split(separator: "/", omittingEmptySubsequences: false), parts.count == 3,
            let number = UInt64(hexadecimal: parts[0], 16), let publisher = UInt32(key: parts[1])
        else { return nil }
        return (number, publisher)
    }
}

/// A key of what each machine watches of a namespace.
package enum LiveKey: Hashable, Sendable {
    /// An entry.
    case log(UInt64)
    /// The number of the last entry.
    case head
    /// A member's last commit; it stays when the member has ended.
    case last(UInt32)
    /// The member that may append, on that member's lease; without a lease, each member may.
    case pen
    /// A member that asks for the pen, on its lease.
    case want(UInt32)
    /// A member whose replica works, on its lease.
    case joined(UInt32)
    /// A machine on which a process owns the namespace, on the machine's second, longer lease.
    case owner(UInt32)
    /// The last base.
    case manifest
    /// The member that makes a base, on its lease.
    case basing

    fileprivate var text: String {
        switch self {
        case .log(let entry): "log/\(entry.hexadecimal(16))"
        case .head: "head"
        case .last(let member): "last/\(member)"
        case .pen: "pen"
        case .want(let member): "want/\(member)"
        case .joined(let member): "joined/\(member)"
        case .owner(let member): "owners/\(member)"
        case .manifest: "manifest"
        case .basing: "basing"
        }
    }

    fileprivate init?(_ text: String) {
        switch text {
        case "head": self = .head
        case "pen": self = .pen
        case "manifest": self = .manifest
        case "basing": self = .basing
        default:
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            if parts[0] == "log", let entry = UInt64(hexadecimal: parts[1], 16) {
                self = .log(entry)
                return
            }
            guard let member = UInt32(key: parts[1]) else { return nil }
            switch parts[0] {
            case "last": self = .last(member)
            case "want": self = .want(member)
            case "joined": self = .joined(member)
            case "owners": self = .owner(member)
            default: return nil
            }
        }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    fileprivate func hexadecimal(_ width: Int) -> String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: width - digits.utf8.count) + digits
    }

    /// Reads a number as ``hexadecimal(_:)`` writes it, and nothing else.
    fileprivate init?(hexadecimal text: Substring, _ width: Int) {
        guard let number = Self(text, radix: 16), number.hexadecimal(width) == text else { return nil }
        self = number
    }

    /// Reads a decimal number as a key has it: without a sign, and without zeros in front.
    fileprivate init?(key text: Substring) {
        guard let number = Self(text), String(number) == text else { return nil }
        self = number
    }
}

extension String {
    /// What follows a beginning, compared by bytes; `nil` if the text begins otherwise.
    fileprivate func after(_ beginning: String) -> Substring? {
        utf8.starts(with: beginning.utf8) ? self[utf8.index(startIndex, offsetBy: beginning.utf8.count)...] : nil
    }
}
