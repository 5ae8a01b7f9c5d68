// The property wrappers by which a command declares its words. Each knows what follows it: the type of the property says
// whether it must be given, may be given, or may be given several times.

/// An option with a value.
@propertyWrapper
package final class Option<Content>: Declaration {
    private let slot: Slot<Content>
    private let bare: Content?
    private let addPair: ((String, String) throws(ValidationError) -> Void)?

    package var wrappedValue: Content { slot.read(title) }

    private init(
        _ slot: Slot<Content>,
        _ form: Form,
        _ name: NameSpecification,
        _ help: ArgumentHelp?,
        _ completion: CompletionKind = .none,
        bare: Content? = nil,
        addPair: ((String, String) throws(ValidationError) -> Void)? = nil
    ) {
        (self.slot, self.bare, self.addPair) = (slot, bare, addPair)
        super.init(form, name, help, completion, isRepeating: slot.isRepeating)
    }

    /// An option that must be given, unless it is optional.
    package convenience init(
        name: NameSpecification = [],
        help: ArgumentHelp? = nil,
        completion: CompletionKind = .none
    ) where Content: ArgumentContent {
        self.init(Slot(), .value, name, help, completion)
    }

    /// An option with a default.
    package convenience init(
        wrappedValue: Content,
        name: NameSpecification = [],
        help: ArgumentHelp? = nil,
        completion: CompletionKind = .none
    ) where Content: ArgumentContent {
        self.init(Slot(wrappedValue), .value, name, help, completion)
    }

    /// An option that may be left out, and whose value may be left out.
    package convenience init(
        name: NameSpecification = [],
        defaultAsFlag bare: Content,
        help: ArgumentHelp? = nil
    ) where Content: ArgumentContent {
        self.init(Slot(), .optionalValue, name, help, bare: bare)
    }

    /// An option with two values, which may be given several times.
    package convenience init<Element: ExpressibleByPair>(
        wrappedValue: [Element],
        name: NameSpecification = [],
        help: ArgumentHelp? = nil
    ) where Content == [Element] {
        let slot = Slot(pairs: wrappedValue)
        self.init(slot, .pair, name, help) { (name, value) throws(ValidationError) in
            slot.value?.append(try Element(name: name, value: value))
        }
    }

    package override var isRequired: Bool { slot.preset == nil }
    package override var allValueStrings: [String] { slot.word?.allValueStrings ?? [] }
    package override var defaultDescription: String? { (bare ?? slot.preset).flatMap(slot.describe) }
    override var forms: String? { slot.word?.forms }
    override func resembles(_ word: String) -> Bool { slot.word?.resembles(word) ?? false }
    override func take(_ word: String) -> Bool { slot.take(word) }
    override func takeBare() { slot.value = bare }
    override func take(name: String, value: String) throws(ValidationError) { try addPair?(name, value) }
}

/// A word in its place.
@propertyWrapper
package final class Argument<Content>: Declaration {
    private let slot: Slot<Content>

    package var wrappedValue: Content { slot.read(title) }

    private init(_ slot: Slot<Content>, _ help: ArgumentHelp?, _ completion: CompletionKind) {
        self.slot = slot
        super.init(.positional, [], help, completion, isRepeating: slot.isRepeating)
    }

    /// An argument that must be given, unless it is optional; of an array one word or more.
    package convenience init(help: ArgumentHelp? = nil, completion: CompletionKind = .none)
    where Content: ArgumentContent {
        self.init(Slot(), help, completion)
    }

    /// An argument with a default; of an array any number of words.
    package convenience init(
        wrappedValue: Content,
        help: ArgumentHelp? = nil,
        completion: CompletionKind = .none
    ) where Content: ArgumentContent {
        self.init(Slot(wrappedValue), help, completion)
    }

    package override var isRequired: Bool { slot.preset == nil }
    package override var allValueStrings: [String] { slot.word?.allValueStrings ?? [] }
    package override var defaultDescription: String? { slot.preset.flatMap(slot.describe) }
    override var forms: String? { slot.word?.forms }
    override func take(_ word: String) -> Bool { slot.take(word) }
}

/// An option without a value.
@propertyWrapper
package final class Flag: Declaration {
    /// How a flag is called that says no.
    package enum Inversion {
        case prefixedNo
    }

    package private(set) var wrappedValue: Bool
    private let inversion: Inversion?

    package init(
        wrappedValue: Bool,
        name: NameSpecification = [],
        inversion: Inversion? = nil,
        help: ArgumentHelp? = nil
    ) {
        self.wrappedValue = wrappedValue
        self.inversion = inversion
        super.init(.flag, name, help)
    }

    override var inverseNames: [String] {
        inversion == nil ? [] : names.filter { $0.hasPrefix("--") }.map { "--no-\($0.dropFirst(2))" }
    }

    package override var defaultDescription: String? {
        inversion == nil ? nil : (wrappedValue ? names : inverseNames).first
    }

    override func take(_ name: String) -> Bool {
        wrappedValue = !inverseNames.contains(name)
        return true
    }
}

/// The words after `--`, which are another command's; `nil` if there is no `--`.
@propertyWrapper
package final class Tail: Declaration {
    package private(set) var wrappedValue: [Word]?
    package override var isRequired: Bool { mustBeThere }
    private let mustBeThere: Bool
    private let mayBeEmpty: Bool

    /// Declares the words behind `--`: whether there must be some, and whether none need follow.
    package init(isRequired: Bool = false, mayBeEmpty: Bool = false, help: ArgumentHelp? = nil) {
        mustBeThere = isRequired
        self.mayBeEmpty = mayBeEmpty
        super.init(.tail, [], help)
    }

    override func take(all words: ArraySlice<Word>) -> Bool {
        wrappedValue = Array(words)
        return mayBeEmpty || !words.isEmpty
    }
}

/// Declarations that several commands share.
@propertyWrapper
package final class OptionGroup<Group: ParsableArguments>: GroupDeclaration {
    package private(set) var wrappedValue = Group()

    package override init() { super.init() }

    override var arguments: any ParsableArguments { wrappedValue }
    override func validate() throws { try wrappedValue.validate() }
}
