// What a caller gives is checked and encoded before anything is opened or locked.

extension Limits {
    /// Throws `tooLarge` for a key that no cell can have; `what` names the text, with its article.
    package static func check(cellKey key: String, _ what: String = "a key") throws(SpaceError) {
        guard (1...cellKeyBytes).contains(key.utf8.count) else {
            throw .outOfRange(what, bytes: key.utf8.count, most: cellKeyBytes)
        }
    }

    /// The numbers of deliveries after which a tuple can be buried.
    package static let deliveryLimits = 1...Int(UInt32.max)

    /// Throws `invalidArgument` for a number of deliveries that no namespace can have as its limit.
    package static func check(deliveryLimit limit: Int) throws(SpaceError) {
        guard !deliveryLimits.contains(limit) else { return }
        throw .badNumber(
            "\(limit) is no number of deliveries",
            advice: "give a number from 1 to \(UInt32.max), or no limit"
        )
    }

    /// Throws `tooLarge` for content of too many bytes.
    @inline(__always)
    package static func check(size count: Int) throws(SpaceError) {
        guard count <= valueBytes else { throw .tooLarge(bytes: count) }
    }
}

extension Value {
    /// The value of a caller's content; throws `badData` if the content doesn't encode, and for an object of a class that
    /// inherits from the declared one: decoding makes an object of the declared class.
    ///
    /// `what` names the content in the error, with its article.
    package init<Content: Encodable>(checking content: Content, _ what: String = "the value") throws(SpaceError) {
        guard !(Content.self is AnyClass) || type(of: content) == Content.self else {
            let (type, base) = ("\(type(of: content))", "\(Content.self)")
            throw SpaceError(
                .badData,
                reason: "\(what) is of class \(type), and would be read back as its base class \(base)",
                advice: "use a struct or an enum with all cases, or declare it as \(type) everywhere"
            )
        }
        self = try coding { () throws(TupleCodingError) in try Value(encoding: content) }
    }

    /// The value as one element; throws `badData` if the value is nested too deep, `tooLarge` for too many bytes.
    package func checkedElement() throws(SpaceError) -> [UInt8] {
        let bytes = try uncheckedElement()
        try Limits.check(size: bytes.count)
        return bytes
    }

    /// The value as one element of any size; throws `badData` if the value is nested too deep.
    package func uncheckedElement() throws(SpaceError) -> [UInt8] {
        try coding { () throws(TupleCodingError) in try encodedElement() }
    }

    /// The content that the value holds; throws `badData` if the value doesn't decode as the type.
    package func content<Content: Decodable>(_ type: Content.Type) throws(SpaceError) -> Content {
        try coding { () throws(TupleCodingError) in try decode(type) }
    }
}
