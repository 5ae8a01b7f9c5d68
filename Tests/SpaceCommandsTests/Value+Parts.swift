import SharedSpace

/// The parts of what a command printed as JSON.
extension Value {
    subscript(_ name: String) -> Value? {
        guard case .object(let record) = self else { return nil }
        return record[name]
    }

    var array: [Value]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}
