import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import TupleSpace

/// Takes and claims of tuples in LMDB are marks, which one commit applies; whatever looks does not tell the difference.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct NearMarksTests: NearEndSuite {
    let namespace: Namespace
    let count = 300

    init() throws {
        namespace = try SpaceTest.namespace(.fast)
        try namespace.write(contentsOf: (0..<count).map { Tuple("job", $0) })
    }

    private var marks: NearMarks { ring.marks }

    private func take() throws -> Int? { try namespace.takeIfExists("job", any(Int.self))?.1 }
    private func claim() throws -> HeldClaim? { try namespace.claimIfExists(matching: ["job", .any])?.detach() }

    /// Makes the first takes, fewer than there may be marks.
    private func takeFirst(_ number: Int = 1) throws {
        for expected in 0..<number { #expect(try take() == expected) }
        #expect(marks.count == number)
    }

    @Test func aLongQueueNeedsFewCommits() throws {
        try takeFirst()
        let before = commit
        for number in 1..<count {
            #expect(try take() == number)
            if number % 50 == 0 {
                #expect(try numbers() == Array(number + 1..<count))
                #expect(try namespace.count() == count - number - 1)
                #expect(try namespace.status().tuples == count - number - 1)
                #expect(try namespace.verify() == [])
            }
        }
        #expect(commit - before == (count - 1) / NearMarks.capacity)
        #expect(try take() == nil)
        #expect(try namespace.status().sequence == UInt64(2 * count))
        // The next ones come into the ring, and are found there.
        let last = commit
        for number in 0..<20 {
            try namespace.write("job", number)
            #expect(try take() == number)
        }
        #expect(commit == last)
        #expect(try namespace.verify() == [])
    }

    @Test func claimsOfALongQueueNeedFewCommits() throws {
        try takeFirst()
        let before = commit
        for number in 1..<count {
            let held = try #require(try claim())
            #expect(held.tuple == Tuple("job", number) && held.deliveries == 0)
            if number % 50 == 0 {
                #expect(try namespace.status().claims.map(\.held.number) == [held.number])
                #expect(try namespace.claim(numbered: held.number)?.id == held.id)
                #expect(try namespace.count(matching: ["job", number]) == 0)
                #expect(try namespace.verify() == [])
            }
            try namespace.complete(held)
            #expect(try refusal { try namespace.complete(held) }.code == .claimLost)
        }
        // The second attempt to complete looks in LMDB, and changes nothing.
        #expect(commit - before == (count - 1) / NearMarks.capacity)
        #expect(try namespace.count() == 0)
    }

    /// Claims that are held while the marks are applied go on in LMDB.
    @Test func aClaimOutlivesItsMark() throws {
        try takeFirst()
        let held = try (0..<150).map { _ in try #require(try claim()) }
        #expect(try namespace.status().claims.map(\.held.number) == held.map(\.number))
        #expect(Set(held.map(\.number)).count == 150)
        #expect(try namespace.verify() == [])
        for (index, claim) in held.enumerated() where index % 2 == 0 { try namespace.complete(claim) }
        #expect(try namespace.status().claims.count == 75)
        for (index, claim) in held.enumerated() where index % 2 == 1 { #expect(try namespace.release(claim)) }
        #expect(try namespace.status().claims.isEmpty)
        let left = Array(1...150).filter { $0 % 2 == 0 } + Array(151..<count)
        #expect(try numbers() == left)
        for number in left { #expect(try take() == number) }
        #expect(try namespace.verify() == [])
    }

    /// A tuple that returns is the first again, and its deliveries are counted.
    @Test func whatReturnsIsInItsPlace() throws {
        try takeFirst()
        try namespace.setDeliveryLimit(3)
        let first = try #require(try claim())
        #expect(try take() == 2)
        #expect(try namespace.release(first))
        let second = try #require(try claim())
        #expect(second.id == first.id && second.deliveries == 1 && second.number > first.number)
        #expect(try namespace.release(second))
        #expect(try namespace.release(try #require(try claim())))
        #expect(try namespace.buried().map(\.tuple) == [Tuple("job", 1)])
        #expect(try take() == 3)
        #expect(try namespace.verify() == [])
    }

    /// Each way to look leaves out what was taken.
    @Test func eachLookSeesTheMarks() throws {
        try takeFirst(10)
        #expect(try namespace.readIfExists("job", any(Int.self))?.1 == 10)
        #expect(try namespace.readIfExists("job", any(Int.self), order: .newestFirst)?.1 == count - 1)
        #expect(try namespace.readIfExists("job", 5) == nil)
        #expect(try namespace.takeIfExists("job", 5) == nil)
        #expect(try namespace.readIfExists("job", 3...12)?.1 == 10)
        #expect(try namespace.readIfExists(matching: .anyOf(["job", 4], ["job", 11])) == ["job", 11])
        #expect(try namespace.count(matching: ["job", .any]) == count - 10)
        #expect(try namespace.readAll(max: 2).map { $0[1] } == [10, 11])
        try namespace.transaction { transaction in
            let read = try transaction.readIfExists("job", any(Int.self))
            let (left, taken) = (try transaction.count(), try transaction.takeIfExists("job", any(Int.self)))
            #expect(read?.1 == 10 && left == count - 10 && taken?.1 == 10)
        }
        #expect(marks.count == 0)
        #expect(try take() == 11)
        #expect(try namespace.takeAll(max: 3).map { $0[1] } == [12, 13, 14])
        #expect(try namespace.takeIfExists("job", any(Int.self), order: .newestFirst)?.1 == count - 1)
        #expect(try numbers() == Array(15..<count - 1))
    }

    /// Takes by several templates, in an index and without one.
    @Test func severalKindsAreTakenByTurns() throws {
        try namespace.write(contentsOf: (0..<count).map { Tuple("mail", $0, "x") })
        let before = commit
        for number in 0..<200 {
            #expect(try take() == number)
            #expect(try namespace.takeIfExists(any(String.self), any(Int.self), "x")?.1 == number)
        }
        // Behind 100 others that are never taken, the shape of the mails has an index by now.
        #expect(commit - before < 50)
        #expect(try namespace.count() == 2 * count - 400)
        #expect(try namespace.verify() == [])
    }

    /// What ends by itself is not marked.
    @Test func whatEndsByItselfIsRemovedAtOnce() throws {
        #expect(try namespace.takeAll().count == count)
        for number in 0..<3 { try namespace.write("job", number, expires: .seconds(60)) }
        for number in 0..<3 {
            let before = commit
            #expect(try take() == number)
            #expect(commit == before + 1 && marks.count == 0)
        }
        #expect(try namespace.verify() == [])
    }

    /// A watcher is told of what is taken after its registration, and of nothing before.
    @Test func watchersKeepTheMarksAway() async throws {
        try takeFirst(5)
        var changes = try namespace.changes().makeAsyncIterator()
        #expect(marks.count == 0)
        #expect(try take() == 5)
        #expect(marks.count == 0)
        let change = try #require(try await changes.next())
        #expect(change.kind == .take && change.tuple == Tuple("job", 5))
    }

    /// A change that does not touch tuples leaves the marks.
    @Test func aCellLeavesTheMarks() throws {
        try takeFirst(10)
        try namespace.set("k", 1)
        #expect(marks.count == 10)
        #expect(try take() == 10)
        #expect(try namespace.get("k") == 1)
        #expect(try namespace.verify() == [])
    }

    /// A snapshot whose commit has applied marks does not count them, also while they are not dropped yet.
    @Test func appliedMarksDontCount() throws {
        try takeFirst()
        let held = try #require(try claim())
        for number in 2..<5 { #expect(try take() == number) }
        let copy = NearRing.allocate()
        defer { copy.free() }
        copy.marks.copy(marks, isStill: true)
        // The same commit applies the marks and returns the tuple; then its maker is killed.
        #expect(try namespace.release(held))
        #expect(marks.count == 0)
        marks.copy(copy.marks, isStill: true)
        ring.word.store(ring.word.load() | 1)
        #expect(marks.count == 5)
        #expect(try numbers() == [1] + Array(5..<count))
        #expect(try namespace.status().claims.isEmpty)
        namespace.core.control.gateNeedsRecovery.store(1)
        #expect(try take() == 1)
        #expect(marks.count == 1)
        #expect(try namespace.verify() == [])
    }

    /// Marks a tuple that a look has found as of a commit.
    private func mark(_ id: TupleID, asOf commit: Int, _ terms: ClaimTerms?) throws -> Marking.Outcome {
        try Marking(engine).mark(id.rawValue, asOf: commit, deliveries: 0, terms, head: nil)
    }

    /// A tuple that has got an end since the look is not marked: what is due is removed by its rows alone.
    @Test func whatGetsAnEndAfterTheLookIsNotMarked() throws {
        let (seen, first) = (commit, try #require(try namespace.matches(["job", 0]).first).id)
        try namespace.renew(first, expires: .seconds(60))
        guard case .refused = try mark(first, asOf: seen, nil) else { throw TestFailure("it is marked") }
        #expect(try take() == 0)
        guard case .lost = try mark(first, asOf: seen, nil) else { throw TestFailure("it is there") }
        #expect(marks.count == 0)
        #expect(try numbers() == Array(1..<count))
    }

    /// A claim tells how often its tuple has returned, also if that was after its look.
    @Test func deliveriesAreThoseOfTheMark() throws {
        let seen = commit
        let claim = try #require(try claim())
        #expect(try namespace.release(claim))
        let terms = namespace.core.claiming.ownTerms(deadline: nil)
        guard case .marked(let number, let deliveries) = try mark(claim.id, asOf: seen, terms) else {
            throw TestFailure("it is not marked")
        }
        #expect(deliveries == 1)
        let again = try #require(try namespace.claim(numbered: number))
        #expect(again.deliveries == 1)
        #expect(try namespace.release(again))
        #expect(try self.claim()?.deliveries == 2)
    }

    /// The room of what was taken is there for the next small cell.
    @Test func aCellHasTheRoomOfWhatWasTaken() throws {
        let namespace = try SpaceTest.namespace(.fast, "room", byteLimit: 16 << 20)
        let body = String(repeating: "x", count: 200_000)
        var number = 0
        while (try? namespace.write("large", number, body)) != nil { number += 1 }
        while (try? namespace.setIfAbsent("cell \(number)", String(repeating: "y", count: 900))) == true { number += 1 }
        for _ in 0..<20 { #expect(try namespace.takeIfExists("large", any(Int.self), any(String.self)) != nil) }
        #expect(namespace.core.control.near.marks.count == 20)
        for cell in 0..<100 { try namespace.set("one more \(cell)", String(repeating: "z", count: 900)) }
        #expect(try namespace.verify() == [])
    }

    /// A transaction, which runs once, has the room of what was taken too.
    @Test func aTransactionHasTheRoomOfWhatWasTaken() throws {
        let namespace = try SpaceTest.namespace(.fast, "room", byteLimit: 16 << 20)
        let body = String(repeating: "x", count: 200_000)
        var number = 0
        while (try? namespace.write("large", number, body)) != nil { number += 1 }
        for _ in 0..<3 {
            for _ in 0..<6 { #expect(try namespace.takeIfExists("large", any(Int.self), any(String.self)) != nil) }
            #expect(namespace.core.control.near.marks.count == 6)
            try namespace.transaction { try $0.write("large", number, body) }
        }
        #expect(try namespace.verify() == [])
    }

    /// Marks are those of one control file: what a backup says of its namespace's marks is nothing to the next namespace.
    @Test func aReplayHasMarksOfItsOwn() throws {
        for number in 0..<150 { #expect(try take() == number) }
        let (root, backup) = (try SpaceTest.root(), try SpaceTest.root().path + "/.backup")
        _ = try namespace.backUp(to: backup)
        let (copy, _) = try root.space.replay(backup, as: "copy", owner: .session, persistent: false, asStandby: false)
        for number in 150..<155 { #expect(try copy.takeIfExists("job", any(Int.self))?.1 == number) }
        let held = try #require(try copy.claimIfExists(matching: ["job", .any])?.detach())
        let marks = copy.core.control.near.marks
        #expect(marks.count == 6)
        // A process is killed while it has the gate.
        copy.core.control.gateNeedsRecovery.store(1)
        #expect(try copy.takeIfExists("job", any(Int.self))?.1 == 156)
        #expect(marks.count == 7)
        #expect(try copy.count() == count - 157)
        try copy.complete(held)
        #expect(try copy.verify() == [])
    }

    /// A claim that is the first half of a take is told as a take.
    @Test func theFirstHalfOfATakeIsNotMarked() async throws {
        let claim = try #require(try namespace.claimBlocking(matching: ["job", 0], isTake: true, .none))
        #expect(marks.count == 0)
        var changes = try namespace.changes().makeAsyncIterator()
        try namespace.complete([claim])
        #expect(try await changes.next()?.kind == .take)
    }

    /// A number of marks that can't be is damage, and not believed.
    @Test(arguments: [UInt64(1) << 62 | 2, 200, 0x3FFF_FFFF_FFFF_FF02])
    func aDamagedNumberIsNotBelieved(_ word: UInt64) throws {
        try takeFirst(3)
        let place = marks.counted
        let before = place.load()
        place.store(word)
        #expect(try refusal { _ = try namespace.count() }.code == .damaged)
        #expect(try refusal { _ = try take() }.code == .damaged)
        #expect(try refusal { try namespace.write("long", String(repeating: "x", count: 2000)) }.code == .damaged)
        place.store(before)
        #expect(try take() == 3)
        #expect(try namespace.verify() == [])
    }

    /// If a data file is older than the marks, it may call a marked tuple claimed: the mark is dropped, and the claim
    /// goes on.
    @Test(arguments: [false, true], [0, 3])
    func aMarkOfAClaimedTupleIsDropped(_ isOfClaim: Bool, _ others: Int) throws {
        try takeFirst()
        let held = try #require(try claim())
        try flush()
        #expect(marks.count == 0)
        for number in 0..<others { #expect(try take() == 2 + number) }
        try engine.underGate { () throws(SpaceError) in
            let holder = isOfClaim ? ClaimHolder.session(1).raw : nil
            _ = ring.mark(held.id.rawValue, holder, engine.control.sequence, head: nil)
        }
        #expect(marks.count == others + 1)
        try flush()
        #expect(marks.count == 0)
        #expect(try namespace.verify() == [])
        #expect(try namespace.status().claims.map(\.held.number) == [held.number])
        #expect(try namespace.release(held))
        #expect(try numbers() == [1] + Array(2 + others..<count))
        #expect(try namespace.verify() == [])
    }

    /// After a crash of the machine the data file may be as it was before the marked tuple returned from a claim.
    @Test func marksOutliveTheDataFileInAReboot() throws {
        let (root, copy) = (try TemporaryRoot(), try TemporaryRoot())
        let namespace = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
        try namespace.write(contentsOf: (0..<20).map { Tuple("job", $0) })
        let held = try #require(try namespace.claimIfExists(matching: ["job", .any])?.detach())
        try namespace.set("flush", String(repeating: "large", count: 1000))
        let old = try root.bytes(of: "n/data.mdb")
        #expect(try namespace.release(held))
        #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == 0)
        #expect(namespace.core.control.near.marks.count == 1)
        try copy.copyTree("n", from: root)
        try copy.overwrite("n/data.mdb", old)
        try copy.pretendReboot()
        let again = try copy.space.namespace("n")
        #expect(try again.count() == 20 && again.status().claims.isEmpty)
        #expect(try again.verify() == [])
        for number in 0..<20 { #expect(try again.takeIfExists("job", any(Int.self))?.1 == number) }
    }

    /// Where there is no room for applying all marks, they are applied one by one: a take always works.
    @Test func aFullNamespaceIsEmptied() throws {
        let namespace = try SpaceTest.root().space.namespace("full", options: NamespaceOptions(byteLimit: 16 << 20))
        let body = String(repeating: "x", count: 900)
        var written = 0
        while (try? namespace.write("job", written, body)) != nil { written += 1 }
        #expect(written > 5000)
        for number in 0..<written {
            if number % 2 == 0 {
                #expect(try namespace.takeIfExists("job", any(Int.self), any(String.self))?.1 == number)
            } else {
                let held = try #require(try namespace.claimIfExists(matching: ["job", .any, .any])?.detach())
                #expect(held.tuple[1] == .int(number))
                try namespace.complete(held)
            }
        }
        #expect(try namespace.count() == 0)
        #expect(try namespace.verify() == [])
    }

    /// Dumps and salvage show what is left.
    @Test func dumpsSeeTheMarks() throws {
        try takeFirst(10)
        let held = try #require(try claim())
        let status = try namespace.status()
        #expect(status.tuples == count - 11 && status.claims.map(\.held.id) == [held.id])
        let salvage = try Salvage(.name(namespace.name, root: try SpaceTest.root().path))
        #expect(salvage.tuples.map { $0.tuple[1] } == (11..<count).map { Value.int($0) })
        #expect(salvage.claims.map(\.held.id) == [held.id] && salvage.leftOut.isEmpty)
    }
}
