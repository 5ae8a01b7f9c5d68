import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// Takes in a row from a long queue find what one of them has copied, and always the oldest match.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct TuplesAheadTests: NearEndSuite {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace(.fast) }

    private func fill(_ count: Int) throws { try namespace.write(contentsOf: (0..<count).map { Tuple("job", $0) }) }
    private func take() throws -> Int? { try namespace.takeIfExists("job", any(Int.self))?.1 }
    private func takeText() throws -> String? { try namespace.takeIfExists("job", any(String.self))?.1 }

    /// The number of the tuple that the next take finds without a look at the tables.
    private func copied(_ template: Template = ["job", .any]) throws -> Int? {
        var number: Int?
        _ = try LookingAhead(engine).first(template.form) { match in
            if case .int(let found)? = try? match.tuple()[1] { number = Int(found) }
        }
        return number
    }

    @Test func takesInARowAreCopiedAhead() throws {
        try fill(300)
        #expect(try copied() == nil)
        for number in 0..<2 { #expect(try take() == number) }
        // The second one has copied what comes next, but not for another template.
        #expect(try copied() == 2)
        #expect(try copied(["job", 2]) == nil)
        var found = 0
        for number in 2..<300 {
            if let copied = try copied() {
                #expect(copied == number)
                found += 1
            }
            #expect(try take() == number)
        }
        #expect(found > 200)
        #expect(try take() == nil)
        #expect(try copied() == nil)
        #expect(try namespace.verify() == [])
    }

    /// What others have taken meanwhile is passed over, and what comes back is the first again.
    @Test func whatIsTakenMeanwhileIsPassedOver() throws {
        try fill(300)
        for number in 0..<7 { #expect(try take() == number) }
        #expect(try copied() == 7)
        let other = try Agent(try SpaceTest.root(), namespace.name, "owning=0")
        for number in [7, 8, 10] { #expect(try other.ask("take [\"job\",\(number)]").hasPrefix("ok")) }
        #expect(try copied() == 9)
        #expect(try take() == 9)
        let held = try #require(try namespace.claimIfExists(matching: ["job", .any])?.detach())
        #expect(held.tuple == Tuple("job", 11))
        #expect(try take() == 12)
        #expect(try namespace.release(held))
        #expect(try copied() == nil)
        #expect(try take() == 11)
        #expect(try take() == 13)
    }

    /// Templates of one shape and hash that want other types each find their own oldest match.
    @Test func otherTypesAreFoundByTheirOwn() throws {
        for number in 0..<200 {
            if number % 3 == 0 {
                try namespace.write("job", "\(number)")
            } else {
                try namespace.write("job", number)
            }
        }
        try flush()
        var (numbers, texts) = ([Int](), [Int]())
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<600 {
            if Bool.random(using: &generator) {
                if let number = try take() { numbers.append(number) }
            } else if let text = try takeText() {
                texts.append(try #require(Int(text)))
            }
        }
        #expect(numbers == (0..<200).filter { $0 % 3 != 0 })
        #expect(texts == (0..<200).filter { $0 % 3 == 0 })
    }

    /// A tuple that its taker can't use stays the first, also if it was looked at when others were copied.
    @Test func whatIsNotTakenStaysTheFirst() throws {
        try fill(100)
        #expect(try take() == 0)
        for _ in 0..<20 {
            var aim = Aim()
            let error = try refusal {
                _ = try namespace.core.looking.lookToTake((["job", .any] as Template).form, .oldestFirst, &aim) {
                    (_) throws(SpaceError) -> Int in throw SpaceError.damaged("not for us")
                }
            }
            #expect(error.reason.contains("not for us"))
            #expect(try copied() == 1)
        }
        for number in 1..<100 { #expect(try take() == number) }
    }

    /// What may end by itself, and what is long, is found by a look at the tables.
    @Test func nothingThatEndsByItselfIsCopied() throws {
        for number in 0..<12 {
            if number == 6 {
                try namespace.write("job", number, expires: .seconds(60))
            } else {
                try namespace.write("job", number)
            }
        }
        try flush()
        var found: [Int] = []
        for number in 0..<12 {
            if let copied = try copied() {
                #expect(copied == number)
                found.append(number)
            }
            #expect(try take() == number)
        }
        // The second take as of a commit copies: number 1 four tuples, number 5 itself alone. That of what ends commits, so
        // the next to copy is number 8.
        #expect(found == [2, 3, 4, 9, 10, 11])
        let body = String(repeating: "x", count: 2000)
        try namespace.write(contentsOf: (0..<9).map { Tuple("job", $0, body) })
        for number in 0..<9 {
            #expect(try copied(["job", .any, .any]) == nil)
            #expect(try namespace.takeIfExists("job", any(Int.self), any(String.self))?.1 == number)
        }
    }

    /// A take copies no more tuples than there are marks left, so all are used: only the first two takes as of a commit
    /// look at the tables.
    ///
    /// There are more commits than a number can be doubled.
    @Test func asManyAreCopiedAsCanBeTaken() throws {
        let commits = 80
        try fill(commits * NearMarks.capacity)
        var looks: [Int: Int] = [:]
        for number in 0..<commits * NearMarks.capacity {
            let copied = try copied()
            #expect(copied == nil || copied == number)
            if copied == nil, ring.marks.count < NearMarks.capacity { looks[commit, default: 0] += 1 }
            #expect(try take() == number)
        }
        // Those of the first commit find out how many are used.
        let later = looks.sorted { $0.key < $1.key }.map(\.value).dropFirst()
        #expect(later.count >= commits - 2 && later.allSatisfy { $0 <= 2 }, "\(later)")
    }

    /// A take copies 16 KiB at most.
    @Test func aTakeCopiesAFewLongTuples() throws {
        let body = String(repeating: "x", count: 900)
        try namespace.write(contentsOf: (0..<600).map { Tuple("job", $0, body) })
        let template: Template = ["job", .any, .any]
        func take() throws -> Int? { try namespace.takeIfExists("job", any(Int.self), any(String.self))?.1 }
        var (run, longest) = (0, 0)
        for number in 0..<600 {
            let copied = try copied(template)
            #expect(copied == nil || copied == number)
            run = copied == nil ? 0 : run + 1
            longest = max(longest, run)
            #expect(try take() == number)
        }
        // The one before them was copied too.
        #expect(longest > 8 && (longest + 1) * 900 <= 16 << 10)
    }

    /// Looks as a take does, and leaves the tuple where it is; the number of the tuple.
    private func look() throws -> Int? {
        var (number, aim) = (Int?.none, Aim())
        _ = try? namespace.core.looking.lookToTake((["job", .any] as Template).form, .oldestFirst, &aim) {
            (match) throws(SpaceError) -> Int in
            if case .int(let found)? = try? match.tuple()[1] { number = Int(found) }
            throw SpaceError.damaged("not for us")
        }
        return number
    }

    /// A commit that returns a claimed tuple, and whose process is stopped before it drops the marks, hides nothing.
    @Test func whatReturnsIsNotHiddenByAppliedMarks() throws {
        try fill(100)
        #expect(try take() == 0)
        let held = try #require(try namespace.claimIfExists(matching: ["job", .any])?.detach())
        #expect(try take() == 2)
        let marks = ring.marks
        let (before, after) = (NearRing.allocate(), NearRing.allocate())
        defer {
            before.free()
            after.free()
        }
        before.marks.copy(marks, isStill: true)
        #expect(try namespace.release(held))
        after.marks.copy(marks, isStill: true)
        let word = ring.word.load()
        // As between the commit and the drop.
        marks.copy(before.marks, isStill: true)
        ring.word.store(word | 1)
        for _ in 0..<4 { #expect(try look() == 1) }
        marks.copy(after.marks, isStill: true)
        ring.word.store(word &+ 2)
        for number in [1] + Array(3..<100) { #expect(try take() == number) }
        #expect(try take() == nil)
    }

    /// A row behind the match that does not decode fails the takes that come to it, and no other.
    @Test func damageBehindTheMatchFailsNoOtherTake() throws {
        try fill(40)
        let id = try #require(try namespace.matches(["job", 20]).first).id.rawValue
        func put(_ bytes: [UInt8]?) throws -> [UInt8]? {
            try namespace.core.write(.removing) { (scope) throws(SpaceError) in
                let rows: Table<UInt64, [UInt8]> = scope.table(scope.snapshot.tables.tuples)
                let old = try rows.get(id)
                if let bytes { try rows.put(id, bytes) }
                scope.noteUpkeep()
                return old
            }
        }
        let row = try put([1])
        for number in 0..<20 { #expect(try take() == number) }
        #expect(try refusal { _ = try take() }.code == .damaged)
        _ = try put(row)
        for number in 20..<40 { #expect(try take() == number) }
    }

    /// Threads of one process share the lists: each tuple is taken once.
    @Test func threadsShareTheLists() async throws {
        try fill(2000)
        let taken = Mutex<[Int]>([])
        let namespace = namespace
        let failures = await together(4) { _ in
            while let found = try namespace.takeIfExists("job", any(Int.self)) { taken.withLock { $0.append(found.1) } }
        }
        #expect(failures == [])
        let numbers = taken.withLock { $0.sorted() }
        #expect(numbers == Array(0..<2000))
        #expect(try namespace.verify() == [])
    }

    /// More templates than there are lists.
    @Test func manyKindsAreTakenByTurns() throws {
        for number in 0..<60 { try namespace.write(contentsOf: (0..<7).map { Tuple("kind \($0)", number) }) }
        try flush()
        for number in 0..<60 {
            for kind in 0..<7 { #expect(try namespace.takeIfExists("kind \(kind)", any(Int.self))?.1 == number) }
        }
        #expect(try namespace.count() == 0)
    }

    /// Of random steps of several kinds, each take and claim gets the oldest that is left.
    @Test(arguments: 1...4)
    func theOldestComesFirst(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var (left, held, next) = ([Int](), [Int: HeldClaim](), 0)
        for _ in 0..<3000 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0 where left.count < 300:
                let batch = Array(next..<next + 60)
                try namespace.write(contentsOf: batch.map { Tuple("job", $0) })
                (left, next) = (left + batch, next + 60)
            case 1:
                try namespace.write("job", next)
                (left, next) = (left + [next], next + 1)
            case 2:
                guard let number = left.prefix(70).randomElement(using: &generator) else { continue }
                #expect(try namespace.takeIfExists("job", number) != nil)
                left.removeAll { $0 == number }
            case 3...5:
                let claim = try namespace.claimIfExists("job", any(Int.self))?.detach()
                #expect(claim?.tuple == left.first.map { Tuple("job", $0) })
                guard let claim else { continue }
                held[left.removeFirst()] = claim
            case 6, 7:
                guard let (number, claim) = held.randomElement(using: &generator) else { continue }
                held[number] = nil
                try namespace.complete(claim)
            case 8:
                guard let (number, claim) = held.randomElement(using: &generator) else { continue }
                held[number] = nil
                #expect(try namespace.release(claim))
                left = ([number] + left).sorted()
            case 9:
                #expect(try namespace.takeIfExists(any(String.self), any(Int.self))?.1 == left.first)
                left = Array(left.dropFirst())
            default:
                #expect(try take() == left.first)
                left = Array(left.dropFirst())
            }
        }
        #expect(try numbers() == left)
        #expect(try namespace.verify() == [])
    }
}
