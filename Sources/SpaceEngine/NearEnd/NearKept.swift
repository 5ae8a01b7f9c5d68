/// What of the near end a transaction leaves as it is.
package struct NearKept: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The ring's records: the transaction adds no tuple, and sees none of those.
    package static let ring = NearKept(rawValue: 1)
    /// The marks: the transaction touches no tuple that may be marked.
    package static let marks = NearKept(rawValue: 2)
    /// The marks but the last one, which the transaction applies.
    static let earlierMarks = NearKept(rawValue: 4)
    package static let all: NearKept = [.ring, .marks]
}
