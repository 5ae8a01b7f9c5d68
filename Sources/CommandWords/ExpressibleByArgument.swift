/// A value that one word of a command line stands for.
package protocol ExpressibleByArgument: ArgumentContent {
    /// The value of a word; `nil` if the word stands for none.
    init?(argument: String)

    /// All words that stand for a value, if they are few.
    static var allValueStrings: [String] { get }

    /// The value as the help shows a default.
    var defaultValueDescription: String { get }

    /// Whether a word that stands for no value was probably meant as one, so that an option whose value may be left out
    /// refuses it.
    static func resembles(_ word: String) -> Bool

    /// How a value is written, for messages.
    static var forms: String? { get }
}

extension ExpressibleByArgument {
    package static var allValueStrings: [String] { [] }
    package var defaultValueDescription: String { "\(self)" }
    package static func resembles(_ word: String) -> Bool { false }
    package static var forms: String? { nil }
}

extension ExpressibleByArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
    package init?(argument: String) { self.init(rawValue: argument) }
    package static var allValueStrings: [String] { allCases.map(\.rawValue) }
    package var defaultValueDescription: String { rawValue }
}

extension ExpressibleByArgument where Self: LosslessStringConvertible {
    package init?(argument: String) { self.init(argument) }
}

extension String: ExpressibleByArgument {}
extension Int: ExpressibleByArgument {}
extension Int32: ExpressibleByArgument {}
extension UInt8: ExpressibleByArgument {}
extension UInt16: ExpressibleByArgument {}
extension UInt32: ExpressibleByArgument {}
extension UInt64: ExpressibleByArgument {}

/// A value that two words of a command line stand for: a name and what it names.
package protocol ExpressibleByPair {
    /// - Throws: `ValidationError` for words that are no pair.
    init(name: String, value: String) throws(ValidationError)
}
