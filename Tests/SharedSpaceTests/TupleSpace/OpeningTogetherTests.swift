import Glibc
import LMDB
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import Synchronization
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Threads of one process that open, use and leave the same namespace at once; `SlowOpeningTogetherTests` repeats it for
/// longer.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OpeningTogetherTests {
    @Test func fourThreadsOpenWriteTakeAndLeave() async throws {
        try await OpeningTogether().openWriteTakeAndLeave(rounds: 500)
    }

    @Test func aHandleThatIsOpenedWhileTheLastOneGoesKeepsItsReaders() async throws {
        try await OpeningTogether().openWhileTheLastHandleGoes(rounds: 20)
    }
}

/// The checks of the two suites, in a root of their own.
struct OpeningTogether {
    let root: TemporaryRoot
    let options = NamespaceOptions(isPersistent: true)

    init() throws { root = try TemporaryRoot() }

    /// No written tuple is lost, and no call fails, although the process's last handle often goes while another thread
    /// opens the next.
    func openWriteTakeAndLeave(rounds: Int) async throws {
        let (space, options) = (root.space, options)
        _ = try space.namespace("jobs", options: options)
        let kept = Mutex<Set<Int>>([])
        let failures = await together(4) { number in
            for round in 0..<rounds {
                let namespace = try space.namespace("jobs", options: options)
                let job = number * 10_000 + round
                try namespace.write("job", job)
                if round % 4 == 0 {
                    kept.withLock { _ = $0.insert(job) }
                } else {
                    #expect(try namespace.takeIfExists("job", job) != nil)
                }
            }
        }
        #expect(failures == [])
        let namespace = try space.namespace("jobs", options: options)
        let found = try namespace.matches(["job", .any]).compactMap { try $0.tuple().jobNumber }
        #expect(Set(found) == kept.withLock { $0 })
        #expect(try namespace.verify() == [])
    }

    /// Closing takes longer the larger the map that it removes: the new handle's reader slot must survive it.
    func openWhileTheLastHandleGoes(rounds: Int) async throws {
        let (space, options) = (root.space, options)
        let ballast = [UInt8](repeating: 1, count: 1 << 20)
        var namespace = try space.namespace("jobs", options: options)
        for number in 0..<40 { try namespace.set("ballast \(number)", ballast) }
        let opened = Mutex<Namespace?>(nil)
        for round in 0..<rounds {
            // Pages are mapped as they are read.
            for number in 0..<40 { #expect(try namespace.get("ballast \(number)") != nil) }
            let last = Mutex<Namespace?>(namespace)
            namespace = try space.namespace("other")
            let failures = await together(2) { number in
                if number == 0 {
                    last.withLock { $0 = nil }
                } else {
                    let handle = try space.namespace("jobs", options: options)
                    opened.withLock { $0 = handle }
                }
            }
            #expect(failures == [])
            namespace = try #require(
                opened.withLock { handle in
                    defer { handle = nil }
                    return handle
                }
            )
            let readers = try namespace.core.engine.environment.readers()
            #expect(readers.contains { $0.pid == getpid() }, "round \(round)")
            try namespace.write("round", round)
            #expect(try namespace.takeIfExists("round", round) != nil)
        }
        #expect(try namespace.verify() == [])
    }
}

extension Tuple {
    /// The number in `["job", number]`.
    fileprivate var jobNumber: Int? {
        guard fields.count == 2, case .int(let number) = fields[1] else { return nil }
        return number
    }
}
