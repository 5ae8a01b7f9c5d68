import LMDB
import SpaceSystem

/// The tables of a namespace as salvage knows them: by name, and by the form of their rows.
///
/// A leaf to which no whole page leads does not name its table; the form of its rows shows it, as far as possible.
package enum SalvagedTable: String, CaseIterable {
    case main, tuples, index, cells, expiries, journal, elements

    package static let named: [SalvagedTable] = [.tuples, .cells, .elements, .index, .expiries, .journal]
    private static let sections: ClosedRange<UInt8> = 0x80...0x85

    /// Whether a record of a leaf to which no page leads can be a row of this table, and is no other one's as far as its
    /// form shows.
    func fitsAlone(_ record: TreeWalk.Record) -> Bool {
        fits(record) && (self != .cells || !SalvagedTable.elements.fits(record))
    }

    /// Whether a record can be a row of this table.
    func fits(_ record: TreeWalk.Record) -> Bool {
        let (key, value) = (record.key, record.value)
        if record.root != nil { return self == .main }
        switch self {
        case .main:
            switch MainKey(keyBytes: key) {
            case .counters: return value.count == Counters.size
            case .life: return value.count == LifeRow.size
            case .log: return value.withBytes { LogRow(key: $0, value: $0) != nil }
            case nil: return key.count > 1 && Self.sections.contains(key[0])
            }
        case .tuples: return key.count == 8 && value.count >= TupleRow.headerSize && Self.hasTupleFlags(value)
        case .journal: return key.count == 8 && value.count >= JournalRow.headerSize && !Self.hasTupleFlags(value)
        case .index: return key.count == IndexKey.size && value.isEmpty
        case .expiries: return value.isEmpty && key[0] != 0 && ExpiryKey(keyBytes: key) != nil
        // Object numbers are far below 2⁴⁸, so the first two bytes are 0.
        case .elements: return key.count > 8 && key[0] == 0 && key[1] == 0
        case .cells:
            guard (1...Limits.cellKeyBytes).contains(key.count) else { return false }
            return value.withBytes { bytes in
                CellRow(bytes).map { (try? Value(encodedElement: $0.element)) != nil } ?? false
            }
        }
    }

    /// Whether a value has the flags of a tuple's row, which are 0 to 7.
    ///
    /// A journal row has the middle bytes of a time in that place, which are never 0.
    private static func hasTupleFlags(_ value: [UInt8]) -> Bool {
        value[13] == 0 && value[14] == 0 && value[15] == 0 && value[12] <= 7
    }
}
