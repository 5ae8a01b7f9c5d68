import Glibc
import SpaceSystem
import Testing

struct TimeTests {
    @Test func goesForward() {
        let first = MonotonicInstant.now
        let second = MonotonicInstant.now
        #expect(first <= second)
        #expect(first < first.advanced(by: .nanoseconds(1)))
        #expect(first.advanced(by: .seconds(3)).duration(since: first) == .seconds(3))
        #expect(first.hasPassed)
        #expect(first.remaining == .zero)
        #expect(!MonotonicInstant.distantFuture.hasPassed)
    }

    @Test func saturates() {
        let now = MonotonicInstant.now
        #expect(now.advanced(by: .seconds(Int64.max)) == .distantFuture)
        #expect(now.advanced(by: .seconds(Int64.min)) < MonotonicInstant(nanoseconds: 0))
        #expect(MonotonicInstant(nanoseconds: -1).advanced(by: .seconds(Int64.min)).nanoseconds == .min)
        #expect(MonotonicInstant.distantFuture.advanced(by: .nanoseconds(1)) == .distantFuture)
        #expect(MonotonicInstant(nanoseconds: .min).remaining == .zero)
        #expect(MonotonicInstant.distantFuture.remaining > .seconds(1 << 30))
        #expect(MonotonicInstant.deadline(after: nil) == nil)
        #expect(MonotonicInstant.deadline(after: .seconds(Int64.max)) == .distantFuture)
    }

    @Test func convertsDurations() {
        #expect(Duration.milliseconds(-1500).saturatedNanoseconds == -1_500_000_000)
        #expect(Duration.seconds(9_223_372_036).saturatedNanoseconds == 9_223_372_036_000_000_000)
        #expect(Duration.seconds(9_223_372_037).saturatedNanoseconds == .max)
        #expect(Duration.seconds(-9_223_372_037).saturatedNanoseconds == .min)
        #expect(Duration.nanoseconds(1).pollMilliseconds == 1)
        #expect(Duration.milliseconds(2).pollMilliseconds == 2)
        #expect(Duration.zero.pollMilliseconds == 0)
        #expect(Duration.seconds(-1).pollMilliseconds == 0, "poll(2) takes a negative number as no limit")
        #expect(Duration.seconds(Int64.max).pollMilliseconds == .max)
    }

    @Test func readsTheClocksThatItNames() {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let seconds = Clock.realtimeMilliseconds() / 1000
        #expect((Int64(time.tv_sec)...(Int64(time.tv_sec) + 600)).contains(seconds))
        clock_gettime(CLOCK_BOOTTIME, &time)
        let sinceBoot = Clock.boottimeMilliseconds() / 1000
        #expect((Int64(time.tv_sec)...(Int64(time.tv_sec) + 600)).contains(sinceBoot))
    }
}
