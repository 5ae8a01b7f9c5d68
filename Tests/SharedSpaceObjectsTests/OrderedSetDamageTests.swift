import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// The check finds rows of ordered sets that contradict each other, and reading them is an error, never a trap.
@Suite struct OrderedSetDamageTests {
    let root: TemporaryRoot
    let namespace: Namespace
    let set: SharedOrderedSet<Int>

    init() throws {
        root = try TemporaryRoot()
        namespace = try root.space.namespace("n")
        set = try namespace.orderedSet("s", of: Int.self)
        try set.append(contentsOf: 0..<600)
    }

    /// Changes a row directly, without the ordered set's code.
    private func damage(_ object: UInt64, _ row: ElementKey.Row, _ change: ([UInt8]) -> [UInt8]?) throws {
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            let new = change(try scope.snapshot.row(object, row).map { Array($0) } ?? [])
            let key = ElementKey(object, row)
            if let new { try scope.elements.put(key, new) } else { try scope.elements.delete(key) }
            scope.noteUpkeep()
        }
    }

    private func element(_ number: Int) throws -> ElementKey.Row {
        try set.read { (list) throws(SpaceError) in .element(try list.reference(at: number)) }
    }

    private enum Fault: CaseIterable {
        case noDirectory, shortDirectory, wrongCount, noChunk, shortChunk, twiceInChunk, noElement, otherChunk, noValue
        case otherValue, stray
    }

    private func cause(_ fault: Fault) throws {
        let object = set.number
        switch fault {
        case .noDirectory: try damage(object, .directory) { _ in nil }
        case .shortDirectory: try damage(object, .directory) { $0.dropLast(3) }
        case .wrongCount: try damage(object, .directory) { [$0[0] &+ 1] + $0.dropFirst() }
        case .noChunk: try damage(object, .chunk(2)) { _ in nil }
        case .shortChunk: try damage(object, .chunk(2)) { $0.dropLast(12) }
        case .twiceInChunk: try damage(object, .chunk(2)) { $0.prefix(12) + $0.dropLast(12) }
        case .noElement: try damage(object, try element(300)) { _ in nil }
        case .otherChunk: try damage(object, try element(300)) { [9] + $0.dropFirst() }
        case .noValue: try damage(object, try element(300)) { $0.prefix(4) + [0xee] }
        case .otherValue: try damage(object, try element(300)) { $0.prefix(4) + [0x15, 7] }
        case .stray: try damage(object + 77, .chunk(1)) { _ in [1, 2, 3] }
        }
    }

    @Test(arguments: Fault.allCases) private func damageIsFound(fault: Fault) throws {
        #expect(try namespace.verify() == [])
        try cause(fault)
        #expect(try namespace.verify() != [], "\(fault)")
        // Whatever these calls return, none of them traps.
        _ = try? set.elements()
        _ = try? set.firstIndex(of: 300)
        _ = try? set.insert(1000, at: 300)
        _ = try? set.move(from: 300, to: 1)
        _ = try? set.remove(at: 300)
        _ = try? set.swapAt(1, 301)
        _ = try? set.subtract(0..<600)
        _ = try? set.sort()
        _ = try namespace.verify()
        #expect(try set.remove() || fault == .noDirectory)
        #expect(try namespace.verify().isEmpty || fault == .stray)
    }
}
