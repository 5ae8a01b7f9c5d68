/// An option, flag or argument of a command, declared by a property wrapper.
///
/// The wrappers are classes with one base class, so that the parser finds them among a command's properties by a class
/// cast; a protocol would be looked up in the tables of the whole program.
package class Declaration {
    /// What follows an option, or what a word without one is.
    package enum Form: Equatable {
        case flag
        /// One word, whatever it begins with.
        case value
        /// Two words, whatever they begin with.
        case pair
        /// One word if it stands for a value.
        case optionalValue
        /// A word in its place.
        case positional
        /// All words after `--`.
        case tail
    }

    package let form: Form
    package let help: ArgumentHelp
    package let completion: CompletionKind
    /// Whether it takes any number of words, or may be given several times.
    package let isRepeating: Bool
    /// The names with their dashes, empty for an argument.
    package private(set) var names: [String]
    /// The name of the property.
    package private(set) var property = ""

    init(
        _ form: Form,
        _ names: NameSpecification = [],
        _ help: ArgumentHelp?,
        _ completion: CompletionKind = .none,
        isRepeating: Bool = false
    ) {
        self.form = form
        self.names = names.names
        self.help = help ?? ""
        self.completion = completion
        self.isRepeating = isRepeating
    }

    /// Whether the command line must have it.
    package var isRequired: Bool { false }
    /// The words that stand for a value, if they are few.
    package var allValueStrings: [String] { [] }
    /// The value that is there if the command line has none.
    package var defaultDescription: String? { nil }
    /// How a value is written, for messages.
    var forms: String? { nil }

    /// Takes a word, or the name of a flag; false if it stands for no value.
    func take(_ word: String) -> Bool { false }
    /// - Throws: `ValidationError` for words that are no pair.
    func take(name: String, value: String) throws(ValidationError) {}
    /// Takes an option without its optional value.
    func takeBare() {}
    /// Takes the words after `--`; false if there are none and must be.
    func take(all words: ArraySlice<Word>) -> Bool { false }
    /// Whether a word was probably meant as an optional value.
    func resembles(_ word: String) -> Bool { false }

    /// The names of a flag that says no.
    var inverseNames: [String] { [] }

    fileprivate func name(after property: String) {
        self.property = property
        let isOption = form != .positional && form != .tail
        if isOption, names.isEmpty { names = ["--\(property.dashed)"] }
    }
}

extension Declaration {
    package var isPositional: Bool { form == .positional }

    package var valueName: String { help.valueName ?? property.dashed }

    /// All names under which it is found.
    package var allNames: [String] { names + inverseNames }

    /// The name that messages use.
    var preferredName: String { names.first { $0.hasPrefix("--") } ?? names.first ?? "" }

    /// What stands behind a name in the help.
    package var valueLabel: String {
        switch form {
        case .flag: ""
        case .value: " <\(valueName)>"
        case .pair: " " + valueName.split(separator: " ").map { "<\($0)>" }.joined(separator: " ")
        case .optionalValue: " [<\(valueName)>]"
        case .positional, .tail: "<\(valueName)>"
        }
    }

    /// As messages and the usage name it: `--max <number>`, `<ns>`.
    var title: String { preferredName + valueLabel }

    /// As the list in the help names it: `-r, --raw`, `--create/--no-create`.
    var label: String {
        let all = names.joined(separator: ", ") + valueLabel
        return inverseNames.isEmpty ? all : "\(all)/\(inverseNames.joined(separator: ", "))"
    }

    /// As it stands in a generated usage.
    var usage: String {
        let title = isRepeating || form == .tail ? "\(title) ..." : title
        if form == .tail { return isRequired ? "-- \(title)" : "[-- \(title)]" }
        return isRequired ? title : "[\(title)]"
    }
}

/// The declarations of a command, in their order, and the groups in which some of them lie.
package struct Declarations {
    package private(set) var all: [Declaration] = []
    private var groups: [GroupDeclaration] = []

    package init(_ arguments: some ParsableArguments) { add(arguments) }

    private mutating func add(_ arguments: any ParsableArguments) {
        for (label, value) in Mirror(reflecting: arguments).children {
            // A wrapper is stored under its property's name with an underscore.
            guard let label, let declaration = value as? Declaration else { continue }
            declaration.name(after: String(label.drop { $0 == "_" }))
            if let group = declaration as? GroupDeclaration {
                add(group.arguments)
                groups.append(group)
            } else {
                all.append(declaration)
            }
        }
    }

    /// - Throws: What a group's check throws.
    func validateGroups() throws {
        for group in groups { try group.validate() }
    }

    package func named(_ name: some StringProtocol) -> Declaration? {
        all.first { $0.allNames.contains { $0 == name } }
    }

    package var positionals: [Declaration] { all.filter(\.isPositional) }
    package var tail: Declaration? { all.first { $0.form == .tail } }
    package var displayed: [Declaration] { all.filter { !$0.help.isHidden } }
}

/// A group of declarations.
///
/// No word stands for a group; it has the base class so that it is found in the same way.
package class GroupDeclaration: Declaration {
    init() { super.init(.flag, [], nil) }

    var arguments: any ParsableArguments { preconditionFailure("a group without declarations") }
    func validate() throws {}
}

extension String {
    /// `eachCommit` with dashes: `each-commit`.
    fileprivate var dashed: String {
        guard contains(where: \.isUppercase) else { return self }
        return reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
    }
}
