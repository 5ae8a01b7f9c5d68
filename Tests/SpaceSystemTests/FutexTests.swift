import SpaceSystem
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FutexTests {
    @Test func wakesAnotherProcess() throws {
        let folder = try TemporaryFolder()
        let page = try MappedFile(try folder.file("page", size: 4096), length: 4096)
        let futex = Futex(at: page.base.assumingMemoryBound(to: UInt32.self))
        #expect(futex.wake() == 0, "nobody sleeps yet")
        let sleeper = try Probe("wait-futex", folder.path("page"))
        #expect(try sleeper.line() == "ready")
        // The word stays 0: only the wake itself can end that sleep.
        #expect(try eventually { futex.wake(1) == 1 })
        #expect(try sleeper.line() == "woken")
    }

    @Test func returnsAtOnceWhenTheWordDiffers() throws {
        var word: UInt32 = 7
        try withUnsafeMutablePointer(to: &word) { word throws in
            let futex = Futex(at: word)
            #expect(try futex.wait(while: 6, for: nil))
            #expect(try futex.wait(while: 6, until: .distantFuture))
        }
    }

    @Test func timesOut() throws {
        var word: UInt32 = 7
        try withUnsafeMutablePointer(to: &word) { word throws in
            let futex = Futex(at: word)
            #expect(try !futex.wait(while: 7, for: .zero))
            #expect(try !futex.wait(while: 7, for: .seconds(-1)))
            #expect(try !futex.wait(while: 7, until: .now))
            let deadline = MonotonicInstant.now.advanced(by: .milliseconds(5))
            #expect(try !futex.wait(while: 7, until: deadline))
            #expect(deadline.hasPassed)
        }
    }

    @Test func refusesAnAddressThatIsNotAligned() throws {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: 16)
        let word = (memory + 1).assumingMemoryBound(to: UInt32.self)
        #expect(throws: Errno.invalidArgument) { try Futex(at: word).wait(while: 0, for: .zero) }
    }
}

struct SharedWordTests {
    @Test func exchangesOnlyWhatIsExpected() {
        withWord64(5) { word in
            #expect(word.compareExchange(expected: 4, desired: 9) == (false, 5))
            #expect(word.load() == 5)
            #expect(word.compareExchange(expected: 5, desired: 9) == (true, 5))
            #expect(word.exchange(1) == 9)
            #expect(word.add(.max) == 1)
            #expect(word.loadSequential() == 0)
            #expect(word.subtract(1) == 0)
            #expect(word.loadRelaxed() == .max)
            #expect(word.keepBits(0xff) == .max)
            #expect(word.setBits(0x100) == 0xff)
            #expect(word.load() == 0x1ff)
            word.store(1 << 40)
            #expect(word.load() == 1 << 40)
        }
    }

    @Test func losesNoAddition() async {
        let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
        memory.initialize(to: 0)
        defer { memory.deallocate() }
        let word = SharedWord32(at: memory)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<20_000 { word.add(1) } }
            }
        }
        #expect(word.load() == 80_000)
    }

    @Test func aSpinEndsWithItsTime() {
        var looks = 0
        let start = MonotonicInstant.now
        let isMet = Spin.wait(
            for: .microseconds(200),
            while: { true },
            until: {
                looks += 1
                return false
            }
        )
        #expect(isMet == false && looks >= 128)
        #expect(MonotonicInstant.now.duration(since: start) >= .microseconds(200))
        #expect(Spin.wait(for: .zero, while: { false }, until: { true }) == true)
    }

    /// The thread that is waited for came to this one's processor, which it can't use during the spin.
    @Test func aSpinEndsBesideItsPartner() {
        var (looks, questions) = (0, 0)
        let met = Spin.wait(
            for: .seconds(3600),
            while: {
                questions += 1
                return questions < 3
            },
            until: {
                looks += 1
                return false
            }
        )
        #expect(met == nil && questions == 3 && looks == 192)
        #expect(!Spin.isApart(0) && !Spin.isApart(Spin.processor))
    }

    private func withWord64(_ value: UInt64, _ body: (SharedWord64) -> Void) {
        let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        memory.initialize(to: value)
        defer { memory.deallocate() }
        body(SharedWord64(at: memory))
    }
}
