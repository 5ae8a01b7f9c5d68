/// What an option or an argument holds: a value, a value that may be left out, or several values.
package protocol ArgumentContent {
    /// What a word stands for.
    static var word: any ExpressibleByArgument.Type { get }

    /// What is there if no word was given; `nil` if one must be.
    static var ifLeftOut: Self? { get }

    /// Whether each word adds a value.
    static var isRepeating: Bool { get }

    /// What is there once a word has come, behind what the words before it stand for; `nil` if it stands for no value.
    static func with(_ word: String, behind earlier: Self?) -> Self?

    /// The content as the help shows a default; `nil` if it shows none.
    var shownDefault: String? { get }
}

extension ArgumentContent where Self: ExpressibleByArgument {
    package static var word: any ExpressibleByArgument.Type { Self.self }
    package static var ifLeftOut: Self? { nil }
    package static var isRepeating: Bool { false }
    package static func with(_ word: String, behind earlier: Self?) -> Self? { Self(argument: word) }
    package var shownDefault: String? { defaultValueDescription }
}

extension Optional: ArgumentContent where Wrapped: ExpressibleByArgument {
    package static var word: any ExpressibleByArgument.Type { Wrapped.self }
    package static var ifLeftOut: Wrapped?? { .some(nil) }
    package static var isRepeating: Bool { false }
    package static func with(_ word: String, behind earlier: Wrapped??) -> Wrapped?? {
        Wrapped(argument: word).map { $0 }
    }
    package var shownDefault: String? { self?.defaultValueDescription }
}

extension Array: ArgumentContent where Element: ExpressibleByArgument {
    package static var word: any ExpressibleByArgument.Type { Element.self }
    package static var ifLeftOut: [Element]? { nil }
    package static var isRepeating: Bool { true }
    package static func with(_ word: String, behind earlier: [Element]?) -> [Element]? {
        Element(argument: word).map { (earlier ?? []) + [$0] }
    }
    package var shownDefault: String? { nil }
}

/// Where a declaration keeps its content, and how a word becomes a part of it.
///
/// The classes of the declarations don't constrain their content, but their initializers do: the runtime would look for
/// the conformance of each content in the tables of the whole program.
final class Slot<Content> {
    let preset: Content?
    let isRepeating: Bool
    let describe: (Content) -> String?
    /// What each word stands for; `nil` in a slot of pairs, which no single word stands for.
    let word: (any ExpressibleByArgument.Type)?
    private let with: (String, Content?) -> Content?
    private var given: Content?

    /// A slot with a default, or with that of its content.
    init(_ preset: Content? = nil) where Content: ArgumentContent {
        self.preset = preset ?? Content.ifLeftOut
        isRepeating = Content.isRepeating
        describe = { $0.shownDefault }
        word = Content.word
        with = Content.with
    }

    /// A slot of pairs.
    init(pairs preset: Content) {
        self.preset = preset
        isRepeating = true
        describe = { _ in nil }
        word = nil
        with = { (_, _) in nil }
    }

    /// What was given, or else the default.
    var value: Content? {
        get { given ?? preset }
        set { given = newValue }
    }

    /// Takes a word; false if it stands for no value.
    func take(_ word: String) -> Bool {
        guard let content = with(word, given) else { return false }
        given = content
        return true
    }

    func read(_ title: String) -> Content {
        guard let value else { preconditionFailure("\(title) is read before the words are parsed") }
        return value
    }
}
