package import SpaceEngine

/// A number: of the last entry (`head`), of a member (`pen`, `want`, `joined`, `owners`, `basing`, `next-member`), of a
/// life (`id`).
package struct NumberValue: Equatable, Sendable {
    package let number: UInt64

    package init(_ number: some BinaryInteger) { self.number = UInt64(truncatingIfNeeded: number) }

    package var encoded: [UInt8] {
        var value = ValueWriter(.number)
        value.add(number)
        return value.finished()
    }

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

/// What a member says of itself.
package struct MemberValue: Equatable, Sendable {
    package var machine: String
    /// Tells this root on this machine since its boot from all others, so that a daemon knows its predecessor's key.
    package var place: [UInt8]

    package init(machine: String, place: [UInt8]) {
        self.machine = machine
        self.place = place
    }

    package var encoded: [UInt8] {
        var value = ValueWriter(.member)
        value.add(machine)
        value.add(place)
        return value.finished()
    }

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

    package init(life: NamespaceLife, commit: CommitID, entry: [UInt8]) {
        self.life = life
        self.commit = commit
        self.entry = entry
    }

    package var encoded: [UInt8] {
        var value = ValueWriter(.log)
        value.add(life.number)
        value.add(commit.member)
        value.add(commit.counter)
        value.add(entry)
        return value.finished()
    }

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

    package init(counter: UInt64, entry: UInt64) {
        self.counter = counter
        self.entry = entry
    }

    package var encoded: [UInt8] {
        var value = ValueWriter(.last)
        value.add(counter)
        value.add(entry)
        return value.finished()
    }

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

    package init(
        life: NamespaceLife,
        number: UInt64,
        publisher: UInt32,
        position: ReplicaPosition,
        isPersistent: Bool,
        header: [UInt8],
        chunks: UInt32
    ) {
        self.life = life
        self.number = number
        self.publisher = publisher
        self.position = position
        self.isPersistent = isPersistent
        self.header = header
        self.chunks = chunks
    }

    package var encoded: [UInt8] {
        var value = ValueWriter(.manifest)
        value.add(life.number)
        value.add(number)
        value.add(publisher)
        value.add(position.entry)
        value.add(position.link)
        value.add(UInt8(isPersistent ? 1 : 0))
        value.add(header)
        value.add(chunks)
        return value.finished()
    }

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

    package init(life: NamespaceLife, number: UInt32, rows: [UInt8]) {
        self.life = life
        self.number = number
        self.rows = rows
    }

    package var encoded: [UInt8] {
        var value = ValueWriter(.chunk)
        value.add(life.number)
        value.add(number)
        value.add(rows)
        return value.finished()
    }

    package init(decoding bytes: [UInt8], of life: NamespaceLife) throws(ValueError) {
        var value = try ValueReader(bytes, .chunk)
        guard try value.next() == life.number else { throw .foreign }
        self.life = life
        number = try value.next()
        rows = try value.nextBytes()
        try value.end()
    }
}

/// What processes of a member's machine wait to take.
package struct InterestsValue: Equatable, Sendable {
    package static let most = 16

    /// At most ``most`` of them.
    package let interests: [Interest]

    package init(_ interests: [Interest]) { self.interests = Array(interests.prefix(Self.most)) }

    package var encoded: [UInt8] {
        var value = ValueWriter(.interests)
        for interest in interests {
            value.add(interest.selector)
            value.add(interest.hash)
        }
        return value.finished()
    }

    package init(decoding bytes: [UInt8]) throws(ValueError) {
        var value = try ValueReader(bytes, .interests)
        var interests: [Interest] = []
        while !value.isAtEnd, interests.count < Self.most {
            interests.append(Interest(selector: try value.next(), hash: try value.next()))
        }
        try value.end()
        self.interests = interests
    }
}
