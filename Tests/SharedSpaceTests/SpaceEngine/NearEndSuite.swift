import LMDB
import SharedSpace
import SpaceTestSupport
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// Tests with a namespace whose newest tuples are in the ring in front of LMDB.
protocol NearEndSuite {
    var namespace: Namespace { get }
}

extension NearEndSuite {
    var engine: Engine { namespace.core.engine }
    var ring: NearRing { namespace.core.control.near }
    var commit: Int { engine.environment.lastTransaction }

    /// Moves what is in the ring to LMDB.
    func flush() throws {
        try namespace.set("flush", String(repeating: "large", count: 1000))
        #expect(ring.isEmpty)
    }

    func numbers(_ order: MatchOrder = .oldestFirst) throws -> [Int] {
        try namespace.readAll(order: order).map { tuple in
            guard case .int(let number) = tuple.fields[1] else { throw TestFailure("\(tuple)") }
            return Int(number)
        }
    }
}
