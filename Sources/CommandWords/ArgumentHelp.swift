/// What the help says of an option or argument.
package struct ArgumentHelp: Sendable, ExpressibleByStringInterpolation {
    package let abstract: String
    /// What stands between the angle brackets: two words for a pair; `nil` for the name.
    package let valueName: String?
    package let isHidden: Bool

    package init(_ abstract: String, valueName: String? = nil, isHidden: Bool = false) {
        self.abstract = abstract
        self.valueName = valueName
        self.isHidden = isHidden
    }

    package init(stringLiteral abstract: String) { self.init(abstract) }
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
