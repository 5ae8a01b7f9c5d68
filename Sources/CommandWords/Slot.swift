/// Where a declaration keeps its value, and how a word becomes one.
final class Slot<Content> {
    var value: Content?
    let preset: Content?
    let isRequired: Bool
    private let add: (inout Content?, String) -> Bool
    let describe: (Content) -> String?
    private let valueStrings: () -> [String]
    private let meant: (String) -> Bool
    private let formsOf: () -> String?

    var allValueStrings: [String] { valueStrings() }
    var forms: String? { formsOf() }

    /// A slot whose words each stand for a value of type `One`.
    private init<One: ExpressibleByArgument>(
        _ preset: Content?,
        of type: One.Type,
        describe: @escaping (Content) -> String?,
        add: @escaping (inout Content?, String) -> Bool
    ) {
        value = preset
        self.preset = preset
        isRequired = preset == nil
        self.add = add
        self.describe = describe
        valueStrings = { One.allValueStrings }
        meant = { One.resembles($0) }
        formsOf = { One.forms }
    }

    /// A slot of pairs, which no single word stands for.
    init(_ preset: Content) {
        value = preset
        self.preset = preset
        isRequired = false
        add = { (_, _) in false }
        describe = { _ in nil }
        valueStrings = { [] }
        meant = { _ in false }
        formsOf = { nil }
    }

    func take(_ word: String) -> Bool { add(&value, word) }
    func resembles(_ word: String) -> Bool { meant(word) }

    func read(_ title: String) -> Content {
        guard let value else { preconditionFailure("\(title) is read before the words are parsed") }
        return value
    }
}

extension Slot where Content: ExpressibleByArgument {
    static func required() -> Slot { one(nil) }
    static func preset(_ value: Content) -> Slot { one(value) }

    private static func one(_ preset: Content?) -> Slot {
        Slot(preset, of: Content.self, describe: { $0.defaultValueDescription }) { (slot, word) in
            guard let value = Content(argument: word) else { return false }
            slot = value
            return true
        }
    }
}

extension Slot {
    static func optional<Wrapped: ExpressibleByArgument>() -> Slot where Content == Wrapped? {
        Slot(.some(nil), of: Wrapped.self, describe: { $0?.defaultValueDescription }) { (slot, word) in
            guard let value = Wrapped(argument: word) else { return false }
            slot = value
            return true
        }
    }

    /// The first word replaces the default, and further ones are added.
    static func list<Element: ExpressibleByArgument>(_ preset: [Element]?) -> Slot where Content == [Element] {
        var isFirst = true
        return Slot(preset, of: Element.self, describe: { _ in nil }) { (slot, word) in
            guard let value = Element(argument: word) else { return false }
            if isFirst { slot = [] }
            isFirst = false
            slot?.append(value)
            return true
        }
    }
}
