/// What a cell must be for it to be set.
package enum CellCondition: Equatable, Sendable {
    case any
    case isAbsent
    /// It holds this encoded element.
    case equals([UInt8])
    /// It has this version; 0: it is not set.
    case hasVersion(UInt64)

    /// Whether a cell's row, or its absence, meets the condition.
    package func isMet(by row: CellRow?) -> Bool {
        switch self {
        case .any: true
        case .isAbsent: row == nil
        case .equals(let element): row.map { $0.element.elementsEqual(element) } ?? false
        case .hasVersion(let version): (row?.version ?? 0) == version
        }
    }

    /// How many bytes the condition has as data.
    package var size: Int { if case .equals(let element) = self { element.count } else { 0 } }

    package func encode(into bytes: inout [UInt8]) {
        switch self {
        case .any: bytes.append(0)
        case .isAbsent: bytes.append(1)
        case .equals(let element):
            bytes.append(2)
            bytes.append(field: element)
        case .hasVersion(let version):
            bytes.append(3)
            bytes.append(little: version)
        }
    }

    package init?(_ reader: inout ByteReader) {
        switch reader.next(UInt8.self) {
        case 0: self = .any
        case 1: self = .isAbsent
        case 2:
            guard let element = reader.nextBytes() else { return nil }
            self = .equals(element)
        case 3:
            guard let version = reader.next(UInt64.self) else { return nil }
            self = .hasVersion(version)
        default: return nil
        }
    }
}
