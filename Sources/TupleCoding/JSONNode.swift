/// JSON text as it was parsed: each value with its place, so that later errors can name it.
struct JSONNode {
    enum Content {
        case null
        case bool(Bool)
        case int(Int)
        case double(Double)
        case string(String)
        case array([JSONNode])
        case object([JSONMember])
        /// A bare `$NAME`, replaced by its value.
        case argument(Value)
    }

    let content: Content

    /// The byte of the text at which the value begins.
    let offset: Int
}

/// A name and its value in JSON text.
struct JSONMember {
    let name: String
    let value: JSONNode
    /// The byte of the text at which the name begins.
    let offset: Int
}
