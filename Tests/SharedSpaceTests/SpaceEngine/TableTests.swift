import SharedSpace
import SpaceSystem
import SpaceTestSupport
import Testing

@testable import SpaceEngine
@testable import SpaceRecipes
@testable import TupleSpace

/// Keys and rows go to bytes and back in one place, and damage there is told once.
@Suite struct TableTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try TemporaryRoot()
        namespace = try root.space.namespace("n")
    }

    private func bytes(_ key: some TableKey) -> [UInt8] { key.withBytes { Array($0) } }

    @Test func keysComeBack() {
        for number in [0, 1, 0x0102_0304_0506_0708, .max] as [UInt64] {
            #expect(bytes(number) == number.bigEndianBytes)
            #expect(UInt64(keyBytes: bytes(number)) == number)
        }
        #expect(UInt64(keyBytes: []) == nil)
        #expect(UInt64(keyBytes: [0, 0, 0, 0, 0, 0, 1]) == nil)
        #expect(UInt16(keyBytes: bytes(0x0102 as UInt16)) == 0x0102)
        #expect(String(keyBytes: bytes("é")) == "é")
        #expect(String(keyBytes: [0xFF]) == nil)
        let index = IndexKey(keyBytes: bytes(IndexKey(shape: 3, hash: 1 << 40, id: 7)))
        #expect(index?.shape == 3 && index?.hash == 1 << 40 && index?.id == 7)
        let expiry = ExpiryKey(keyBytes: bytes(ExpiryKey(.claim(7), at: 9)))
        #expect(expiry == ExpiryKey(.claim(7), at: 9) && expiry?.kind == .claim && expiry?.deadline == 9)
        for subject in [ExpiryKey.Subject.tuple(3), .cell("é")] {
            let holder = ClaimHolder.session(5)
            let key = ExpiryKey(keyBytes: bytes(ExpiryKey(subject, with: holder)))
            #expect(key?.subject == subject && key?.holder == holder && key?.deadline == 0)
        }
        #expect(ExpiryKey(keyBytes: [1, 0, 0]) == nil)
        for row in [.directory, .chunk(5), .element(ElementReference(hash: 6, number: 7))] as [ElementKey.Row] {
            #expect(ElementKey(keyBytes: bytes(ElementKey(4, row)))?.row == row)
        }
        for key in MainKey.allCases { #expect(MainKey(keyBytes: bytes(key)) == key) }
        #expect(MainKey(keyBytes: Array("tuples".utf8)) == nil)
    }

    /// Each session and each process, of whatever member, has another word, and none has the word for no holder.
    @Test func holdersOfAllMembersHaveWords() {
        let latest = SessionNumber.number(member: SessionNumber.lastMember, count: SessionNumber.countLimit - 1)
        var words: Set<UInt64> = [ClaimHolder.nobody.raw]
        for member: UInt32 in [0, 1, 0xFFFF, 0x1_0000, SessionNumber.lastMember] {
            let session = SessionNumber.number(member: member, count: 1)
            let process = ProcessIdentity(pid: 1 << 22 - 1, startTime: 0xAB_CDEF)
            let holders = [ClaimHolder.session(session), .process(process, member: member)]
            for holder in holders {
                let same = ClaimHolder(raw: holder.raw)
                #expect(same.member == member && same.raw == holder.raw && words.insert(holder.raw).inserted)
                guard case .process(let seen, _) = same else { continue }
                let mask: UInt64 = member == 0 ? .max : 1 << UInt64(ClaimHolder.lowStartBits) - 1
                #expect(seen.pid == process.pid && seen.startTime == process.startTime & mask)
            }
        }
        #expect(ClaimHolder(raw: latest) == .session(latest))
        #expect(SessionNumber.member(of: latest) == SessionNumber.lastMember)
    }

    @Test func scansGoBothWaysFromAnyKey() throws {
        for key in ["a", "b/1", "b/2", "c"] { try namespace.set(key, key) }
        try namespace.core.read { (snapshot) throws(SpaceError) in
            var rows = try snapshot.cells.scan(from: "b")
            var keys: [String] = []
            while let (key, _) = try rows.next() { keys.append(key) }
            #expect(keys == ["b/1", "b/2", "c"])
            rows = try snapshot.cells.scan(below: "b/2")
            keys = []
            while let (key, _) = try rows.previous() { keys.append(key) }
            #expect(keys == ["b/1", "a"])
            rows = try snapshot.cells.scan(prefix: Array("b/".utf8))
            keys = []
            while let (key, _) = try rows.next() { keys.append(key) }
            #expect(keys == ["b/1", "b/2"])
            rows = try snapshot.cells.scan()
            #expect(try rows.previous()?.key == "c")
        }
        #expect(try namespace.verify() == [])
    }

    @Test func aWalkGoesOnBehindWhatItDeletes() throws {
        for key in ["a", "b", "c"] { try namespace.set(key, 1) }
        try namespace.core.write(.removing) { (scope) throws(SpaceError) in
            var rows = try scope.cells.scan()
            while let (key, _) = try rows.next() { if key != "b" { try rows.delete() } }
            scope.noteUpkeep()
        }
        #expect(try namespace.cells().map(\.key) == ["b"])
        #expect(try namespace.verify() == [])
    }

    /// A row that does not decode is an error with the names of the operation and the namespace, or is passed over.
    @Test func aRowThatDoesNotDecodeIsDamage() throws {
        let first = try namespace.write(tuple: ["a"])
        let second = try namespace.write(tuple: ["b"])
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            let tuples: Table<UInt64, UnsafeRawBufferPointer> = scope.table(scope.tables.tuples)
            try tuples.put(first.rawValue, [1, 2, 3])
            scope.noteUpkeep()
        }
        let error = #expect(throws: SpaceError.self) {
            try namespace.attempt("look") { (core) throws(SpaceError) in
                try core.read { (snapshot) throws(SpaceError) in _ = try snapshot.tuples.get(first.rawValue) }
            }
        }
        #expect(error?.code == .damaged)
        #expect(error?.operation == "look")
        #expect(error?.namespace == "n")
        #expect(error?.reason == "tuple \(first) is too short")
        try namespace.core.read { (snapshot) throws(SpaceError) in
            #expect(try snapshot.tuples.getValid(first.rawValue) == nil)
            #expect(try snapshot.tuples.contains(first.rawValue))
            var rows = try snapshot.tuples.scan()
            #expect(try rows.nextValid()?.key == second.rawValue)
        }
        #expect(try namespace.verify() == ["tuple \(first) is too short"])
    }
}
