extension Value {
    /// Encodes the content of a collection; a value that would not decode again is refused.
    ///
    /// `what` names the content in the error, with its article.
    static func elementToStay<Content: Codable>(_ content: Content, _ what: String) throws(SpaceError) -> [UInt8] {
        let value = try Value(checking: content, what)
        do throws(TupleCodingError) {
            _ = try value.decode(Content.self)
        } catch {
            let reason = "\(what) would not decode as \(Content.self) again: \(error)"
            throw SpaceError(.badData, reason: reason, advice: "see that the type decodes what it encodes")
        }
        return try value.checkedElement()
    }

    /// The content of a collection; throws `badData` if it doesn't decode, with `what` as its name.
    func content<Content: Decodable>(
        _ what: @autoclosure () -> String,
        orElse remedy: String? = nil
    ) throws(SpaceError) -> Content {
        do throws(TupleCodingError) {
            return try decode(Content.self)
        } catch {
            throw .doesNotDecode(what(), as: Content.self, error, orElse: remedy)
        }
    }
}
