import LMDB
import SpaceSystem

/// The wait of a writer for a place in a full ring.
///
/// Takers are several times as quick with tuples in the ring as with those in LMDB. So a writer that is quicker than
/// the takers should let them go first instead of moving their tuples to LMDB. It waits about as long as the commit
/// that would move the tuples: a longer wait would be too long if no taker comes, and a shorter one too short for a
/// taker that has just been woken. A taker may also have to empty the tables first, which its marks show: after one
/// ring was moved to LMDB, that takes a few milliseconds. If the writer did not wait that long, it would move the next
/// ring too, and then the next. The queue would stay in the tables as long as its writers are quicker than takers are
/// there.
///
/// The writer spins for a taker on another processor, and otherwise sleeps until half of the ring is free. That may
/// never happen: no taker comes, or each works on its job for an hour, or the oldest tuple is one that no taker
/// wants, or a taker is killed or stopped before it wakes the writer. So the sleep has a limit.
final class RingWait: Sendable {
    /// Whether waiting has paid lately.
    private let policy = SpinPolicy()

    /// A taker takes some tuples in this time.
    private static let spinForPlace = Duration.microseconds(5)
    /// How long a writer waits for a sign of a taker, and how long for a place.
    private static let patienceForTaker = Duration.microseconds(100)
    private static let patienceForPlace = Duration.milliseconds(5)

    /// Whether to wait this time.
    func isDue() -> Bool { policy.isDue() }

    /// Waits for a full ring to have a place, while takers come and make progress; `nil` if they don't.
    @inline(never)
    func wait(for tuple: EncodedTuple, in near: NearRing, on engine: Engine) throws(SpaceError) -> UInt64? {
        if near.isTakerApart {
            _ = Spin.wait(for: Self.spinForPlace, while: { near.isTakerApart }, until: { near.mayHavePlace })
        }
        let start = MonotonicInstant.now
        var (lastSign, signs) = (start, signsOfTakers(near, engine.environment))
        while true {
            let heard: UInt32
            switch try engine.place(tuple, in: near, isWaiting: true) {
            case .written(let id):
                policy.note(isAnswered: true)
                return id
            case .refused: return nil
            case .full(let word): heard = word
            }
            let (now, seen) = (MonotonicInstant.now, signsOfTakers(near, engine.environment))
            if seen != signs { (lastSign, signs) = (now, seen) }
            let end = min(
                start.advanced(by: Self.patienceForPlace),
                lastSign.advanced(by: Self.patienceForTaker)
            )
            guard now < end else {
                policy.note(isAnswered: false)
                return nil
            }
            // The only possible errors are a bad address and a bad time; even then the thread looks again.
            _ = try? near.placeFutex.wait(while: heard, until: end)
        }
    }

    /// Numbers that change when a taker makes progress while the ring is full.
    ///
    /// The ring's head is no such number: it stands still while its tuple is claimed, or one that no taker wants.
    private func signsOfTakers(_ near: NearRing, _ environment: Environment) -> (UInt64, Int) {
        // A mark, like a take from the ring, raises the number of the last change.
        (near.lastChange, environment.lastTransaction)
    }
}
