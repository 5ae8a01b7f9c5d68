import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// The check finds damaged rows of a dictionary, and using them is an error, never a trap.
@Suite struct DictionaryDamageTests {
    let root: TemporaryRoot
    let namespace: Namespace
    let dictionary: SharedDictionary<Int>

    init() throws {
        root = try TemporaryRoot()
        namespace = try root.space.namespace("n")
        dictionary = try namespace.dictionary("d", of: Int.self)
        try dictionary.merge(["a": 1, "b": 2]) { _, new in new }
    }

    private enum Fault: CaseIterable {
        case noDetails, otherDetails, slashInName, noText, noValue
    }

    /// Changes rows directly, without the dictionary's code.
    private func cause(_ fault: Fault) throws {
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            func object(_ name: String, _ details: Value) throws(SpaceError) {
                try scope.objects.store(
                    name,
                    SharedObjectRow(kind: .dictionary, number: dictionary.number, details: details)
                )
            }
            func cell(_ key: [UInt8], _ value: [UInt8]) throws(SpaceError) {
                try value.withBytes { (value) throws(SpaceError) in
                    try scope.cellsByBytes.put(key, CellRow(end: RowEnd(), version: 1, element: value))
                }
            }
            switch fault {
            case .noDetails: try object("d", .null)
            case .otherDetails: try object("d", .object(["element": 7]))
            case .slashInName:
                try scope.objects.remove("d")
                try object("d/e", CollectionDetails(elementType: "Int").value)
            case .noText: try cell(Array("d/".utf8) + [0xff, 0xfe], Value.int(3).knownElement)
            case .noValue: try cell(Array("d/b".utf8), [0xee, 0xee])
            }
            scope.noteUpkeep()
        }
    }

    @Test(arguments: Fault.allCases) private func damageIsFound(fault: Fault) throws {
        #expect(try namespace.verify() == [])
        try cause(fault)
        #expect(try namespace.verify() != [], "\(fault)")
        // Whatever these calls return, none of them traps.
        _ = try? namespace.dictionary("d", of: Int.self)
        _ = try? namespace.dictionary("d/e", of: Int.self)
        _ = try? namespace.objects
        _ = try? dictionary.snapshot()
        _ = try? dictionary.keys()
        _ = try? dictionary.count
        _ = try? dictionary.changes(of: "b")
        _ = try? dictionary.updateValue(1, forKey: "b")
        _ = try? dictionary.modify("b") { $0 = 3 }
        _ = try? dictionary.removeAll()
        _ = try? dictionary.remove()
        // A key or a name that no call can give stays; the calls above remove all other damage.
        #expect(try namespace.verify().isEmpty == (fault != .noText && fault != .slashInName))
    }
}
