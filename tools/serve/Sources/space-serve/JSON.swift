import Foundation

/// The JSON of events: each on one line.
enum JSON {
    /// A value as JSON; `null` if it has none, which no type here causes.
    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        // Sorted, so that the same value is the same text.
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }

    /// A value from JSON; `nil` if it is no such value.
    static func value<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
