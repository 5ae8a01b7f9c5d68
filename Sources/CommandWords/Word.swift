/// A word of a command line, as the program got it.
package struct Word: Sendable, Equatable, ExpressibleByStringLiteral {
    /// The text; of a word that is not UTF-8, a readable one.
    package let text: String

    /// Whether the word is UTF-8.
    ///
    /// A word that isn't may only be one of a command to run, which gets it as it came.
    package let isText: Bool

    package init(_ text: String, isText: Bool = true) {
        self.text = text
        self.isText = isText
    }

    package init(stringLiteral text: String) { self.init(text) }
}
