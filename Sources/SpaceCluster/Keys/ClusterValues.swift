import ClusterStore
package import SpaceEngine

/// A number: of the last entry (`head`), of a member (`pen`, `want`, `joined`, `owners`, `basing`, `next-member`), of a
/// life (`id`).
package struct NumberValue: Equatable, Sendable {
    package let number: UInt64

    package init(_ number: some BinaryInteger) { self.number = UInt64(truncatingIfNeeded: number) }

    package var encoded: [UInt8] { ValueWriter(.number).adding(number).finished() }

    package init(decoding bytes: [UInt8]) throws(ValueError) {
        var value = try ValueReader(bytes, .number)
        number = try value.next()
        try value.end()
    }

    package var member: UInt32 {
        get throws(ValueError) {
            guard let member = UInt32(exactly: number) else { throw .damaged }
            return member
        }
    }
}

extension StoreRow {
    /// The number that it has; `nil` if its value is none.
    var number: UInt64? { try? NumberValue(decoding: value).number }
}

/// What a member says of itself.
package struct MemberValue: Equatable, Sendable {
    package var machine: String
    /// Tells this root on this machine since its boot from all others, so that a daemon knows its predecessor's key.
    package var place: [UInt8]

    package var encoded: [UInt8] { ValueWriter(.member).adding(machine).adding(place).finished() }
}

extension MemberValue {
    package init(decoding bytes: [UInt8]) throws(ValueError) {
        var value = try ValueReader(bytes, .member)
        machine = try value.nextText()
        place = try value.nextBytes()
        try value.end()
    }
}

/// A commit's name: no two commits of all members have the same.
package struct CommitID: Hashable, Sendable {
    package let member: UInt32
    package let counter: UInt64
}

/// An entry of the log: who appended it, and the bytes of the process, which only a replica reads.
package struct LogValue: Equatable, Sendable {
    package let life: NamespaceLife
    package let commit: CommitID
    package let entry: [UInt8]

    package var encoded: [UInt8] {
        ValueWriter(.log).adding(life.number).adding(commit.member).adding(commit.counter).adding(entry).finished()
    }
}

extension LogValue {
    /// - Throws: `foreign` if the entry belongs to another life than this one.
    package init(decoding bytes: [UInt8], of life: NamespaceLife) throws(ValueError) {
        var value = try ValueReader(bytes, .log)
        guard try value.next() == life.number else { throw .foreign }
        self.life = life
        commit = CommitID(member: try value.next(), counter: try value.next())
        entry = try value.nextBytes()
        try value.end()
    }
}

/// A member's last commit.
package struct LastValue: Equatable, Sendable {
    package let counter: UInt64
    package let entry: UInt64

    package var encoded: [UInt8] { ValueWriter(.last).adding(counter).adding(entry).finished() }
}

extension LastValue {
    package init(decoding bytes: [UInt8]) throws(ValueError) {
        var value = try ValueReader(bytes, .last)
        counter = try value.next()
        entry = try value.next()
        try value.end()
    }
}

/// The manifest of a base: the chunks that it has, and what it says beside its rows.
package struct ManifestValue: Equatable, Sendable {
    package let life: NamespaceLife
    /// The number and the publisher in its chunks' keys.
    package let number: UInt64
    package let publisher: UInt32
    package let position: ReplicaPosition
    package let isPersistent: Bool
    package let header: [UInt8]
    package let chunks: UInt32

    package var encoded: [UInt8] {
        ValueWriter(.manifest).adding(life.number).adding(number).adding(publisher)
            .adding(position.entry).adding(position.link).adding(UInt8(isPersistent ? 1 : 0))
            .adding(header).adding(chunks).finished()
    }
}

extension ManifestValue {
    package init(decoding bytes: [UInt8], of life: NamespaceLife) throws(ValueError) {
        var value = try ValueReader(bytes, .manifest)
        guard try value.next() == life.number else { throw .foreign }
        self.life = life
        number = try value.next()
        publisher = try value.next()
        position = ReplicaPosition(entry: try value.next(), link: try value.next())
        let flag = try value.next(UInt8.self)
        guard flag < 2 else { throw .damaged }
        isPersistent = flag == 1
        header = try value.nextBytes()
        chunks = try value.next()
        try value.end()
    }
}

/// A part of a base's rows.
package struct ChunkValue: Equatable, Sendable {
    package let life: NamespaceLife
    package let number: UInt32
    package let rows: [UInt8]

    package var encoded: [UInt8] { ValueWriter(.chunk).adding(life.number).adding(number).adding(rows).finished() }
}

extension ChunkValue {
    package init(decoding bytes: [UInt8], of life: NamespaceLife) throws(ValueError) {
        var value = try ValueReader(bytes, .chunk)
        guard try value.next() == life.number else { throw .foreign }
        self.life = life
        number = try value.next()
        rows = try value.nextBytes()
        try value.end()
    }
}
