/// A value of parsed JSON text with its place, so that later errors can name the place.
struct JSONNode {
    enum Content {
        case null
        case bool(Bool)
        case int(Int)
        case double(Double)
        case string(String)
        case array([JSONNode])
        case object([JSONMember])
        /// The value of a bare `$NAME`.
        case argument(Value)
    }

    let content: Content

    /// The offset in the text, in bytes, at which the value begins.
    let offset: Int
}

/// A name and its value in JSON text.
struct JSONMember {
    let name: String
    let value: JSONNode
    /// The offset in the text, in bytes, at which the name begins.
    let offset: Int
}
