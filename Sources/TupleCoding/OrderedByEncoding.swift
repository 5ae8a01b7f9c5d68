/// What is in the order of its encoding.
package protocol OrderedByEncoding: Comparable {
    /// The order of the encodings: negative, zero or positive.
    func compare(_ other: Self) -> Int
}

extension OrderedByEncoding {
    /// Whether the first's encoding comes before the second's.
    public static func < (left: Self, right: Self) -> Bool { left.compare(right) < 0 }
}
