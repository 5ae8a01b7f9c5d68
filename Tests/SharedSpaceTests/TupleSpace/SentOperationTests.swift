import SpaceSystem
import Testing
import TupleCoding

@testable import SpaceEngine
@testable import TupleSpace

/// The bytes of operations that are sent: programs of different versions on one machine have to agree on them.
@Suite("Operations that are sent")
struct SentOperationTests {
    private static let id: [UInt8] = [7, 0, 0, 0, 0, 0, 0, 0]
    private static let number: [UInt8] = [9, 0, 0, 0, 0, 0, 0, 0]
    private static let none = [UInt8](repeating: 0, count: 8)

    private func decoded<O: SentOperation>(_ message: [UInt8], as type: O.Type) throws -> O {
        #expect(SentOperations.type(of: message) == type)
        var reader = ByteReader(message.dropFirst())
        let operation = try #require(O(&reader, session: 5))
        #expect(reader.isAtEnd)
        return operation
    }

    /// Checks that an operation has these bytes, and is the same when it is decoded.
    private func expect<O: SentOperation>(_ bytes: [UInt8], of operation: O) throws {
        #expect(operation.message == bytes)
        #expect(operation.fitsInMessage)
        #expect(try decoded(bytes, as: O.self).message == bytes)
        // Nothing that is cut off decodes.
        for count in 1..<bytes.count {
            var reader = ByteReader(bytes[1..<count])
            #expect(O(&reader, session: 5) == nil, "\(count) bytes")
        }
    }

    @Test("Each has its bytes")
    func bytes() throws {
        let (id, number, none) = (Self.id, Self.number, Self.none)
        try expect([1, 1, 0] + id, of: TakeFirst(ids: [7]))
        let holder = ClaimHolder(raw: 9)
        let terms = ClaimTerms(holder: holder, deadline: nil, isTake: true)
        try expect([2, 1, 0] + id + number + [1, 0], of: ClaimFirst(ids: [7], terms: terms))
        let second: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
        let limited = ClaimTerms(holder: holder, deadline: .seconds(1))
        try expect([2, 1, 0] + id + number + [0, 1] + second + none, of: ClaimFirst(ids: [7], terms: limited))
        let claim = ClaimKey(id: 7, number: 9)
        try expect([3, 2, 0] + id + number, of: Complete(claim, session: 5))
        try expect([3, 4, 0] + id + number + id + number, of: Complete(claim, [claim], session: 5))
        try expect(
            [4, 1] + none + none + [2, 0, 0, 0, 0xC0, 0xC1],
            of: SentWrite([0xC0, 0xC1], isRecord: true, RowEnd())
        )
        let key: [UInt8] = [1, 0, 0, 0, 0x6B]
        let set = SetCell("k", [3], RowEnd(expiry: 7), if: .isAbsent)
        try expect([5] + key + id + none + [1, 0, 0, 0, 3, 1], of: set)
        try expect([6] + key + [UInt8](repeating: 0xFF, count: 8), of: Increment("k", by: -1))
    }

    private func expect<O: SentOperation>(
        _ bytes: [UInt8],
        ofOutcome outcome: O.Outcome,
        of _: O.Type,
        _ isSame: (O.Outcome) -> Bool
    ) throws {
        var encoded: [UInt8] = []
        O.encode(outcome, into: &encoded)
        #expect(encoded == bytes)
        var reader = ByteReader(bytes[...])
        #expect(isSame(try #require(O.outcome(&reader))))
        #expect(reader.isAtEnd)
        for count in 0..<bytes.count {
            var reader = ByteReader(bytes[..<count])
            #expect(O.outcome(&reader) == nil, "\(count) bytes")
        }
        for other in UInt8(0)...9 where other != bytes[0] && other != 1 {
            var reader = ByteReader(([other] + bytes.dropFirst())[...])
            #expect(O.outcome(&reader) == nil, "the outcome of another operation: \(other)")
        }
    }

    @Test("Each outcome has its bytes, and no other operation's is taken for it")
    func outcomes() throws {
        func place<Made>(_ removed: Removed<FirstLeft<Made>>) -> Int? {
            if case .removed(let first) = removed { first.index } else { nil }
        }
        try expect([1], ofOutcome: .lost, of: TakeFirst.self) { place($0) == nil }
        let taken = FirstLeft(index: 2, made: ())
        try expect([3, 2, 0, 0, 0], ofOutcome: .removed(taken), of: TakeFirst.self) { place($0) == 2 }
        try expect([1], ofOutcome: .lost, of: ClaimFirst.self) { place($0) == nil }
        let claimed = FirstLeft(index: 2, made: ClaimMade(number: 9, deliveries: 4))
        try expect(
            [4, 2, 0, 0, 0] + Self.number + [4, 0, 0, 0],
            ofOutcome: .removed(claimed),
            of: ClaimFirst.self
        ) {
            guard case .removed(let first) = $0 else { return false }
            return first.index == 2 && first.made.number == 9 && first.made.deliveries == 4
        }
        try expect([2], ofOutcome: (), of: Complete.self) { true }
        try expect([5] + Self.id, ofOutcome: TupleID(rawValue: 7), of: SentWrite.self) { $0.rawValue == 7 }
        try expect([6, 0, 0], ofOutcome: (false, nil), of: SetCell.self) { !$0.isSet && $0.old == nil }
        let element = Value.int(3).knownElement
        let field = [UInt8(element.count), 0, 0, 0] + element
        try expect([6, 1, 1] + field, ofOutcome: (true, .int(3)), of: SetCell.self) { $0.isSet && $0.old == .int(3) }
        try expect([7] + Self.id, ofOutcome: 7, of: Increment.self) { $0 == 7 }
    }

    @Test("Too many tuples and too many bytes are not sent, nor taken from a message")
    func limits() throws {
        let ids = [UInt64](repeating: 7, count: 65)
        #expect(!TakeFirst(ids: ids).fitsInMessage)
        var reader = ByteReader(TakeFirst(ids: ids).message.dropFirst())
        #expect(TakeFirst(&reader, session: 5) == nil)
        let bytes = [UInt8](repeating: 0, count: 16385)
        let write = SentWrite(bytes, isRecord: false, RowEnd())
        #expect(!write.fitsInMessage)
        #expect(try !decoded(write.message, as: SentWrite.self).fitsInMessage)
        #expect(!SetCell("k", bytes, RowEnd(), if: .any).fitsInMessage)
        #expect(!SetCell("k", [3], RowEnd(), if: .equals(bytes)).fitsInMessage)
    }
}
