import ClusterStore
import SeededRandom
import Testing

/// Messages of the store's wire come back as they were sent, and bytes that are no message are refused.
struct WireTests {
    static let requests: [WireRequest] = [
        .read(.key("a"), limit: nil, keysOnly: false),
        .read(.prefix("é/"), limit: 7, keysOnly: true),
        .transact(
            StoreTransaction(
                if: [.value("a", [1, 2]), .modified("b", 9), .absent(.prefix("c/"))],
                then: [.put("d", [], StoreLease(number: -3)), .delete(.key("e")), .read(.prefix(""))],
                else: [.put("f", [UInt8](repeating: 4, count: 300), .none)]
            )
        ),
        .makeLease(seconds: 10), .keepAlive(StoreLease(number: .max)), .end(StoreLease(number: 1)),
        .watch(.prefix("w/"), from: 12), .stopWatching, .status,
    ]

    private static let row = StoreRow(
        key: "k",
        value: [1, 2, 3],
        created: 4,
        modified: 5,
        lease: StoreLease(number: 6)
    )

    static let answers: [WireAnswer] = [
        .reading(StoreReading(revision: 3, rows: [row, row], hasMore: true)),
        .outcome(StoreOutcome(held: true, revision: 4, readings: [[], [row]])),
        .lease(StoreLease(number: 9)), .seconds(0), .done,
        .status(StoreStatus(version: "3.5.13", troubles: ["a", ""])),
        .news(.changes([.put(row), .deleted("k", revision: 6)], revision: 6)), .news(.progress(revision: 7)),
        .failed(.unavailable("u")), .failed(.unknown("é")), .failed(.refused("")), .failed(.compacted(8)),
    ]

    private static var messages: [WireMessage] {
        requests.map { $0.message(id: 1) } + answers.map { $0.message(id: 1) }
    }

    /// Decodes a message as what it may be; whether it is one does not matter here.
    private func decode(_ message: WireMessage) -> Bool {
        let isRequest = (try? WireRequest(message)) != nil
        let isAnswer = (try? WireAnswer(message)) != nil
        return isRequest || isAnswer
    }

    @Test func messagesComeBack() throws {
        for request in Self.requests { #expect(try WireRequest(request.message(id: 1)) == request) }
        for answer in Self.answers { #expect(try WireAnswer(answer.message(id: 1)) == answer) }
    }

    @Test func partsOfMessagesAreRefused() {
        for message in Self.messages {
            for count in 0..<message.body.count {
                let part = WireMessage(id: 1, kind: message.kind, body: Array(message.body.prefix(count)))
                #expect(!decode(part))
            }
            #expect(!decode(WireMessage(id: 1, kind: message.kind, body: message.body + [0])))
        }
    }

    @Test(arguments: 1...8)
    func damagedMessagesAreRefusedOrDecoded(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for message in Self.messages {
            for _ in 0..<500 {
                var body = message.body
                for _ in 0..<Int.random(in: 1...4, using: &random) where !body.isEmpty {
                    body[Int.random(in: body.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
                }
                _ = decode(WireMessage(id: 1, kind: message.kind, body: body))
            }
        }
    }

    @Test(arguments: 1...8)
    func randomBodiesAreRefusedOrDecoded(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let body = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            _ = decode(WireMessage(id: 1, kind: UInt8.random(in: 0...0x7F, using: &random), body: body))
        }
    }

    @Test func aCountThatIsTooHighCostsNoMemory() {
        // A reading with 4 billion rows in 13 bytes.
        let body = [UInt8](repeating: 0, count: 9) + [0xFF, 0xFF, 0xFF, 0xFF]
        #expect(throws: WireError.self) { try WireAnswer(WireMessage(id: 1, kind: 0x41, body: body)) }
    }

    @Test(arguments: 1...8)
    func messagesAreJoinedHoweverTheyAreCut(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let large = WireRequest.transact(
            StoreTransaction(then: [.put("large", [UInt8](repeating: 5, count: 3 << 20), .none)])
        )
        let sent = Self.messages + [large.message(id: 2)] + Self.messages
        let bytes = sent.flatMap(\.frames)
        var assembler = WireAssembler()
        var received: [WireMessage] = []
        var position = 0
        while position < bytes.count {
            let count = Int.random(in: 1...(Bool.random(using: &random) ? 20 : 1 << 20), using: &random)
            let end = min(bytes.count, position + count)
            assembler.append(Array(bytes[position..<end]))
            position = end
            while let message = try assembler.next() { received.append(message) }
        }
        #expect(received == sent)
    }

    @Test func aFrameOfNoPossibleLengthIsRefused() {
        for length: [UInt8] in [[0, 0, 0, 0], [0, 0, 0, 8], [1, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF]] {
            var assembler = WireAssembler()
            assembler.append(length + [UInt8](repeating: 0, count: 16))
            #expect(throws: WireError.self) { try assembler.next() }
        }
    }

    @Test func partsOfDifferentKindsAreRefused() {
        var assembler = WireAssembler()
        // Two parts of message 1, of kinds 1 and 2.
        assembler.append([0, 0, 0, 10] + [0, 0, 0, 0, 0, 0, 0, 1] + [0x81, 0])
        assembler.append([0, 0, 0, 10] + [0, 0, 0, 0, 0, 0, 0, 1] + [0x02, 0])
        #expect(throws: WireError.self) { try assembler.next() }
    }
}
