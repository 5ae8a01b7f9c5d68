import SpaceEngine
import SpaceMachines
import Testing

/// What a root's daemon answers, as bytes.
struct DaemonAnswerTests {
    private func decoded(_ error: SpaceError, replacing code: String, by other: String) throws -> SpaceError {
        var bytes = Array(DaemonAnswer.result(.failed(error)).encoded.dropFirst(4))
        let range = try #require(bytes.firstRange(of: code.utf8))
        bytes.replaceSubrange(range, with: other.utf8)
        guard case .result(.failed(let error))? = DaemonAnswer(bytes) else {
            throw SpaceError(.badData, reason: "the answer does not decode")
        }
        return error
    }

    @Test func aKnownFailureIsTheSame() throws {
        for code in SpaceError.Code.allCases {
            let error = SpaceError(code, holder: 7, reason: "the reason", advice: "the advice")
            let result = try decoded(error, replacing: "the reason", by: "the reason")
            #expect(result.code == code && result.holder == 7)
            #expect(result.reason == "the reason" && result.advice == "the advice")
        }
    }

    @Test func aFailureOfAnotherVersionKeepsItsReason() throws {
        let error = SpaceError(.holdLost, reason: "the lock is gone")
        let result = try decoded(error, replacing: "holdLost", by: "lostHold")
        #expect(result.code == .incompatible)
        #expect(result.reason.hasPrefix("the lock is gone (") && result.reason.contains("\"lostHold\""))
    }
}
