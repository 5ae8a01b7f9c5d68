import SpaceTesting
import Testing

/// Longer runs of the checks of `OpeningTogetherTests`, whose rounds meet a rare moment less often.
@Suite(.slow, .serialized, .timeLimit(.minutes(5)))
struct SlowOpeningTogetherTests {
    @Test func fourThreadsOpenWriteTakeAndLeave() async throws {
        try await OpeningTogether().openWriteTakeAndLeave(rounds: 3000)
    }

    @Test func aHandleThatIsOpenedWhileTheLastOneGoesKeepsItsReaders() async throws {
        try await OpeningTogether().openWhileTheLastHandleGoes(rounds: 100)
    }
}
