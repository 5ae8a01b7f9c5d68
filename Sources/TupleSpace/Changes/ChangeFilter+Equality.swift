/// A choice of names, which compare by their bytes, as they do in the namespace; a derived conformance to `Equatable` would
/// compare strings.
package protocol NameChoice {
    var key: Value { get }
}

extension NameChoice {
    package static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    package static func != (left: Self, right: Self) -> Bool { left.key != right.key }
}

extension ChangeFilter.Names: NameChoice {
    package var key: Value {
        switch self {
        case .none: .null
        case .all: true
        case .named(let name): .string(name)
        }
    }
}

extension ChangeFilter.Cells: NameChoice {
    package var key: Value {
        switch self {
        case .none: .null
        case .all: true
        case .key(let path): .string(path)
        case .prefix(let prefix): ["prefix", .string(prefix)]
        case .range(let range): ["range", .string(range.lowerBound), .string(range.upperBound)]
        case .matching(let pattern): ["matching", .string(pattern)]
        }
    }
}
