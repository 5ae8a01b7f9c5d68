import SpaceSystem

/// What a long match was decoded to, while it was lent.
struct Borrowed<Content> {
    private var content: Content?
    /// An error waits until it is known whether the pages were damaged.
    private var failure: SpaceError?

    @inline(__always)
    init() {}

    /// Decodes a match that is lent.
    @inline(__always)
    mutating func decode(_ match: Match, _ decode: (Match) throws(SpaceError) -> Content) {
        (content, failure) = (nil, nil)
        do throws(SpaceError) { content = try decode(match) } catch { failure = error }
    }

    /// The content of a match, which is decoded now if it was not lent.
    @inline(__always)
    func content(of match: Match, _ decode: (Match) throws(SpaceError) -> Content) throws(SpaceError) -> Content {
        match.isLent ? try lentContent() : try decode(match)
    }

    /// The content of the match that was lent.
    @inline(__always)
    func lentContent() throws(SpaceError) -> Content {
        if let failure { throw failure }
        guard let content else { preconditionFailure("a match is lent before it is returned") }
        return content
    }
}
