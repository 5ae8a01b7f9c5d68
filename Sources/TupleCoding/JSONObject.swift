/// A JSON object on one line, with its keys in the order in which they were added: that is the documented order.
///
/// `Value.json` sorts the names by their bytes, which makes tuples comparable but does not help a report.
package struct JSONObject: Sendable {
    private var text = ""

    package init() {}

    /// The finished object.
    package var line: String { "{\(text)}" }

    private mutating func append(_ key: String, _ rendered: String) {
        if !text.isEmpty { text += "," }
        text += "\(Value.string(key).json):\(rendered)"
    }

    package mutating func add(_ key: String, _ value: String?) {
        append(key, value.map { Value.string($0).json } ?? "null")
    }

    package mutating func add(_ key: String, _ value: (some BinaryInteger)?) {
        append(key, value.map { "\($0)" } ?? "null")
    }

    package mutating func add(_ key: String, _ value: Bool) {
        append(key, value ? "true" : "false")
    }

    package mutating func add(_ key: String, _ values: [JSONObject]) {
        append(key, "[" + values.map(\.line).joined(separator: ",") + "]")
    }

    package mutating func add(_ key: String, _ values: [String]) {
        append(key, "[" + values.map { Value.string($0).json }.joined(separator: ",") + "]")
    }

    /// Adds text that is JSON already.
    package mutating func add(_ key: String, json: String) {
        append(key, json)
    }
}
