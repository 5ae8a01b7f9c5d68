/// A JSON object on one line, with its members in the order in which they were added: that is the documented order.
///
/// A literal is the usual way to make one: `["name": status.name, "tuples": status.tuples]`. `nil` becomes `null`; a value
/// with `orLeftOut` has no member if there is nothing to say. `Value.json` sorts the names by their bytes, which makes
/// tuples comparable but does not help a report.
package struct JSONObject: Sendable, JSONConvertible, ExpressibleByDictionaryLiteral {
    private var members = ""

    package init(dictionaryLiteral members: (String, any JSONConvertible)...) {
        for (key, value) in members { add(key, value) }
    }

    package var json: String { "{\(members)}" }

    package mutating func add(_ key: String, _ value: any JSONConvertible) {
        if !(value is LeftOut) { append("\(key.json):\(value.json)") }
    }

    /// Adds the members of another object.
    package mutating func add(_ other: JSONObject) {
        if !other.members.isEmpty { append(other.members) }
    }

    private mutating func append(_ text: String) {
        if !members.isEmpty { members += "," }
        members += text
    }
}

/// Text that is JSON already.
package struct RawJSON: JSONConvertible {
    package let json: String

    package init(_ json: String) { self.json = json }
}

/// A value without a member in a `JSONObject`.
private struct LeftOut: JSONConvertible {
    let json = "null"
}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    package var json: String { self?.json ?? "null" }

    /// The value; without one, the member is left out.
    package var orLeftOut: any JSONConvertible { self ?? LeftOut() }
}

extension Bool: JSONConvertible {
    package var json: String { "\(self)" }

    /// `true`; if it is false, the member is left out.
    package var orLeftOut: any JSONConvertible { self ? self : LeftOut() }
}

extension Collection where Self: JSONConvertible {
    /// The text or the list; if it is empty, the member is left out.
    package var orLeftOut: any JSONConvertible { isEmpty ? LeftOut() : self }
}

extension String: JSONConvertible {
    package var json: String { Value.string(self).json }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    package var json: String { "[" + map(\.json).joined(separator: ",") + "]" }
}

extension JSONConvertible where Self: BinaryInteger {
    package var json: String { "\(self)" }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}
