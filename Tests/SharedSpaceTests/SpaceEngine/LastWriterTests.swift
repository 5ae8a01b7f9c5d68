import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// Whether a waiter's spin can help is known from the processors of the last writers.
@Suite(.spaceTest, .timeLimit(.minutes(2))) struct LastWriterTests {
    /// An entry of a thread of another process.
    private func entry(_ processor: UInt32) -> UInt64 { 1 << 32 | UInt64(processor) }

    @Test func aSpinHelpsOnlyForAWriterOnAnotherProcessor() async throws {
        let namespace = try SpaceTest.namespace("n")
        let (engine, word) = (namespace.core.engine, namespace.core.control.writer)
        try await onThread {
            // The entry of this thread's own write names it.
            try namespace.write("job", 0)
            let own = word.load()
            try #require(own & 0xFFFF_FFFF != 0, "this C library tells the number without a system call")
            try keep(thread: Int32(own >> 32), onProcessor: Int(own & 0xFFFF_FFFF) - 1)
            let here = Spin.processor
            let writer = engine.lastWriter
            for (last, isApart) in [(0, false), (here, false), (here + 1, true)] {
                word.store(entry(last))
                #expect(writer.isApart == isApart)
                // A process that has written itself waits for the writer before it.
                try namespace.write("job", 1)
                #expect(word.load() & 0xFFFF_FFFF == UInt64(here))
                #expect(writer.isApart == isApart)
                try namespace.write("job", 2)
                #expect(writer.isApart == isApart)
                // A commit of LMDB counts as well.
                word.store(entry(last))
                try namespace.set("cell", String(repeating: "large", count: 1000))
                #expect(word.load() & 0xFFFF_FFFF == UInt64(here))
                #expect(writer.isApart == isApart)
            }
        }
    }
}
