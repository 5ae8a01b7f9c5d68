import TupleCoding

// Names in filters compare by their bytes, as they do in the namespace; the derived conformance would compare
// strings.

extension ChangeFilter.Names {
    private var key: Value {
        switch self {
        case .none: .null
        case .all: true
        case .named(let name): .string(name)
        }
    }

    /// Whether both choose the same collections; names compare as UTF-8.
    public static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension ChangeFilter.Cells {
    private var key: Value {
        switch self {
        case .none: .null
        case .all: true
        case .key(let path): .string(path)
        case .prefix(let prefix): ["prefix", .string(prefix)]
        case .range(let range): ["range", .string(range.lowerBound), .string(range.upperBound)]
        case .matching(let pattern): ["matching", .string(pattern)]
        }
    }

    /// Whether both choose the same cells; keys compare as UTF-8.
    public static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension ChangeFilter.Notifications {
    private var key: Value {
        switch self {
        case .none: .null
        case .all: true
        case .named(let name): .string(name)
        case .matching(let pattern): [.string(pattern)]
        case .sent(let sender, let name):
            [.int(Int(sender.pid)), sender.id.map { .int($0) } ?? .null, name.map { .string($0) } ?? .null]
        }
    }

    /// Whether both choose the same notifications; names compare as UTF-8.
    public static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Changes.Start {
    private var key: Value {
        switch self {
        case .now: .null
        case .initial: true
        case .after(let sequence): .int(Int(bitPattern: UInt(sequence)))
        case .resume(let point): [.string("\(point.life)"), .int(Int(bitPattern: UInt(point.sequence)))]
        case .subscription(let name): .string(name)
        }
    }

    /// Whether both begin at the same place; names compare as UTF-8.
    public static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension SpaceChange {
    private var key: Value {
        switch self {
        case .appeared(let name): [true, .string(name)]
        case .disappeared(let name): [false, .string(name)]
        }
    }

    /// Whether both report the same event of the same name; names compare as UTF-8.
    public static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
