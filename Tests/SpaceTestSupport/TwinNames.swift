/// Two names that are equal for Swift's `==` and differ in the database: "é" as one scalar and as two.
package enum TwinNames {
    package static let composed = "\u{e9}"
    package static let decomposed = "e\u{301}"
    /// In the order of their bytes.
    package static let both = [decomposed, composed]

    /// Whether two lists hold the same strings, compared as bytes.
    package static func areSame(_ left: [String], _ right: [String]) -> Bool {
        left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
    }
}
