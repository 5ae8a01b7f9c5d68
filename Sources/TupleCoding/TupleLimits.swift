/// The limits of the encoding itself; the storage limits the length of a tuple.
package enum TupleLimits {
    /// How many arrays and objects may enclose each other inside one field; in a record, the record itself counts too.
    ///
    /// The same number bounds every recursion over bytes, JSON text and Codable values, so that none can exhaust the
    /// stack.
    package static let maximumDepth = 64

    /// The longest regular expression that a template accepts, in bytes of UTF-8.
    package static let maximumPatternLength = 1024

    /// How many groups and character classes may enclose each other in a regular expression.
    package static let maximumPatternDepth = 16
}
