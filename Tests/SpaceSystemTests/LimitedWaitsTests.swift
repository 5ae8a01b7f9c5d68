import SpaceSystem
import Testing

/// Waits with limits that share timers; the tests choose all moments, and no time passes.
struct LimitedWaitsTests {
    private let past = MonotonicInstant(nanoseconds: 1)
    private let future = MonotonicInstant.now.advanced(by: .seconds(3600))

    @Test func aTimerIsStartedOnlyForALimitThatComesBeforeTheOthers() {
        var waits = LimitedWaits<String>()
        #expect(waits.add("without", waits.newNumber(), until: nil) == nil)
        #expect(waits.add("first", waits.newNumber(), until: future) == future)
        #expect(waits.add("same", waits.newNumber(), until: future) == nil)
        #expect(waits.add("later", waits.newNumber(), until: future.advanced(by: .seconds(1))) == nil)
        let sooner = future.advanced(by: .seconds(-1))
        #expect(waits.add("sooner", waits.newNumber(), until: sooner) == sooner)
    }

    @Test func aTimerEndsWhatIsOverAndStartsTheNext() {
        var waits = LimitedWaits<String>()
        let numbers = (0..<4).map { _ in waits.newNumber() }
        #expect(waits.add("over", numbers[0], until: past) == past)
        #expect(waits.add("removed", numbers[1], until: past) == nil)
        #expect(waits.add("stays", numbers[2], until: future) == nil)
        #expect(waits.add("without", numbers[3], until: nil) == nil)
        #expect(waits.remove(numbers[1]) == "removed")
        #expect(waits.remove(numbers[1]) == nil)
        let (over, timer) = waits.ring(past)
        #expect(over == ["over"] && timer == future)
        #expect(waits.remove(numbers[0]) == nil)
        #expect(Set(waits.removeAll()) == ["stays", "without"])
        // The timer that is still set finds no wait.
        let (none, last) = waits.ring(future)
        #expect(none.isEmpty && last == nil)
    }

    @Test func aTimerThatIsLeftOverServesTheNextWait() {
        var waits = LimitedWaits<String>()
        let number = waits.newNumber()
        #expect(waits.add("ends early", number, until: future) == future)
        _ = waits.remove(number)
        let later = future.advanced(by: .seconds(1))
        #expect(waits.add("next", waits.newNumber(), until: later) == nil)
        let (over, timer) = waits.ring(future)
        #expect(over.isEmpty && timer == later)
    }
}
