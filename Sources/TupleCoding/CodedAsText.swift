/// A type that is encoded as its text by Codable types and their encoders.
package protocol CodedAsText: Codable, LosslessStringConvertible {
    /// The description of a text that the type does not read: `not a UUID`.
    static var misread: String { get }
}

extension CodedAsText {
    /// Reads the text form.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` for a text that the type does not read.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let read = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.misread)
        }
        self = read
    }

    /// Writes the text form.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
