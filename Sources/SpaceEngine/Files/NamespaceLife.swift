import LMDB
import SpaceSystem
import TupleCoding

/// One life of a namespace: from its creation to its deletion.
///
/// A namespace that is deleted and created again under the same name begins a new life, in which the numbers of its changes
/// begin anew. A reboot, and the adoption of a durable namespace after it, ends no life. The text is 16 hexadecimal digits.
public struct NamespaceLife: Sendable, Hashable, LosslessStringConvertible, Codable {
    /// A random number, never 0.
    let number: UInt64

    init(number: UInt64) { self.number = number }

    /// A new life: random, so that two are alike only once in 2⁶⁴.
    static var new: NamespaceLife { NamespaceLife(number: .random(in: 1...UInt64.max)) }

    /// Reads a life from its 16 hexadecimal digits; `nil` for any other text.
    public init?(_ description: String) {
        guard description.utf8.count == 16, description.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
            let number = UInt64(description, radix: 16), number != 0
        else { return nil }
        self.number = number
    }

    /// The life as 16 hexadecimal digits.
    public var description: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Reads a life from its text.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` for a text that names no life.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let life = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a life is 16 hexadecimal digits")
        }
        self = life
    }

    /// Writes the life as its text.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A place in the changes of one life of a namespace, which a watcher keeps to go on from there later.
///
/// ```swift
/// var point = changes.resumePoint                             // kept in a file, say
/// for try await change in changes { point = changes.resumePoint(after: change) }
/// …
/// let later = try jobs.changes(from: .resume(point))
/// ```
///
/// In another life of the namespace it begins with a gap, where a number alone could be taken for one of that life.
public struct ResumePoint: Sendable, Hashable, Codable {
    /// The last change that is not wanted again.
    public var sequence: UInt64
    /// The life in which it has this number.
    public var life: NamespaceLife

    /// Makes a resume point of what was kept.
    public init(sequence: UInt64, life: NamespaceLife) {
        self.sequence = sequence
        self.life = life
    }
}

extension Namespace {
    /// The life of the namespace that this handle has open.
    public var life: NamespaceLife { core.control.header.life }
}

// MARK: In the data file

/// The row of the main table that keeps the life where the control file is lost: the life's number, 8 bytes.
enum LifeRow {
    static let key: StaticString = "life"
    static let size = 8

    private static var keyBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
    }

    static func put(_ life: NamespaceLife, _ access: Access, _ tables: Tables) throws(LMDBError) {
        let row = try access.reserve(tables.main, keyBytes, size: size)
        row.storeBytes(of: life.number.littleEndian, as: UInt64.self)
    }

    /// The life; `nil` when the row is missing or damaged.
    static func get(_ access: Access, _ tables: Tables) throws(LMDBError) -> NamespaceLife? {
        guard let row = try access.get(tables.main, keyBytes), row.count == size else { return nil }
        let number: UInt64 = row.little(0)
        return number == 0 ? nil : NamespaceLife(number: number)
    }
}

extension Counters {
    /// The number of the first claim in a life that begins now.
    ///
    /// Numbers of claims, holds (the fencing numbers) and items of queues begin with the microseconds since 1970: fewer than one is
    /// given out in a microsecond, so they are greater in each later life, as long as the clock is not set back by more than
    /// lies between the two. So no such number of an earlier life names anything of a later one, and what a fencing number
    /// protects refuses an old holder also then. Below 2⁵³, so that programs that read JSON numbers as doubles have them whole.
    static var firstClaimOfLife: UInt64 { UInt64(min(max(Clock.realtimeMicroseconds(), 1), 1 << 52)) }
}
