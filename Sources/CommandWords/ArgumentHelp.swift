/// What the help says of an option or argument.
///
/// It may begin with what stands for the value, as the help shows it: `<duration> How long to wait.`; two words for a
/// pair. Without that, the name of the property stands for the value.
package struct ArgumentHelp: Sendable, ExpressibleByStringInterpolation {
    package let abstract: String
    let valueName: String?
    package let isHidden: Bool

    package init(_ text: String, isHidden: Bool = false) {
        let parts = text.hasPrefix("<") ? text.dropFirst().split(separator: "> ", maxSplits: 1) : []
        valueName = parts.count == 2 ? String(parts[0]) : nil
        abstract = parts.last.map(String.init) ?? text
        self.isHidden = isHidden
    }

    package init(stringLiteral text: String) { self.init(text) }
}

/// The names of an option; without any it is called as its property.
package struct NameSpecification: Sendable, ExpressibleByArrayLiteral {
    /// The names with their dashes.
    package let names: [String]

    package init(arrayLiteral elements: NameSpecification...) { names = elements.flatMap(\.names) }

    private init(_ name: String) { names = [name] }

    package static func customLong(_ name: String) -> Self { Self("--\(name)") }
    package static func customShort(_ letter: Character) -> Self { Self("-\(letter)") }
}

/// How a shell completes a value.
package enum CompletionKind: Sendable {
    case none
    case list([String])
    case file
    case directory
    /// What the program itself finds.
    case custom(@Sendable (CompletionRequest) -> [String])

    package static func file() -> Self { .file }
}
