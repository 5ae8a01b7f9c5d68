import Glibc
import SharedSpace
import SpaceSystem
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import TupleSpace

/// The origin of tuples that are written to the near end, and moved to LMDB later.
@Suite(.spaceTest, .blocking, .timeLimit(.minutes(2)))
struct NearOriginTests {
    @Test func itIsKeptInTheRingAndBeyond() throws {
        let namespace = try SpaceTest.namespace("n")
        namespace.useNearEnd(of: NearRing.capacity)
        let start = Clock.realtimeMilliseconds() / 1000 * 1000 - 1000
        for number in 0..<3 { try namespace.write("first", number) }
        let end = Clock.realtimeMilliseconds()
        func check(_ near: Bool) throws {
            let isNear = try namespace.core.read(showsNear: true) { (snapshot) throws(SpaceError) in snapshot.isNear(1)
            }
            #expect(isNear == near)
            let group = try #require(try namespace.statistics().tuples.first { $0.shape == #"["first",int]"# })
            #expect(group.count == 3)
            #expect(group.oldest.pid == getpid() && group.newest.pid == getpid())
            #expect((start...end).contains(group.oldest.milliseconds))
        }
        try check(true)
        for number in 0..<600 { try namespace.write("more", number) }
        try check(false)
    }
}
