import TupleCoding

/// What is done with a match; its name is that of the operation.
@usableFromInline
package enum Verb: String {
    case read, take, claim

    /// A read or a take.
    init(isTaking: Bool) { self = isTaking ? .take : .read }
}

/// Decodes a match, and keeps the content.
///
/// The last call is for the tuple that was found. There may be earlier calls, for tuples that other processes took first.
@usableFromInline typealias Keeping = (inout TupleDecoder) throws(TupleCodingError) -> Void
