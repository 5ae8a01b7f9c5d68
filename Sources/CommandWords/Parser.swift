// How the words of a command line are read. The rules, in their order:
//
// - `--` ends the options. What follows is data; of a command that runs another, the other's words.
// - The value of an option follows it, whatever it begins with, but for `--` (written `--option=--`); where the value may be
//   left out, the next word is the value only if it stands for one.
// - A word that is an option's whole name is that option, wherever it stands.
// - A JSON number is data.
// - Behind the first argument, the namespace, a word is data as it stands, as long as the command has a place for it.
// - Any other word that begins with a dash is refused. In front of the namespace short options may stand together.
//
// `-h`, `--help` and `--version` are requests only as the first word behind the command; that is the caller's part.

/// Reads words, one after the other, into the declarations of a command.
package struct Parser {
    package let declarations: Declarations
    private let positionals: [Declaration]
    private let tail: Declaration?

    /// The words of data.
    package private(set) var data: [String] = []
    /// The options with one value that were given.
    package private(set) var values: [(name: String, value: String)] = []
    /// Whether `--` has ended the options.
    package private(set) var isEnded = false
    /// The option whose value was missing.
    private(set) var pending: Declaration?
    /// What was given.
    private var given: [ObjectIdentifier] = []
    /// The first words that were taken as data and begin with a dash: an option may have been meant.
    package private(set) var suspects: [String] = []

    package init(_ declarations: Declarations) {
        self.declarations = declarations
        positionals = declarations.positionals
        tail = declarations.tail
    }

    private static let mostSuspects = 8

    /// Where the next word of data belongs; `nil` if there is no place for it.
    package var place: Declaration? {
        if data.count < positionals.count { return positionals[data.count] }
        return positionals.last.flatMap { $0.isRepeating ? $0 : nil }
    }

    /// Whether words stand as they are, because the namespace is known, and there is a place for one.
    private var isBehindNamespace: Bool { !data.isEmpty && place != nil }

    /// What to say if the command can't do anything with a word that may have been meant as an option.
    package var advice: String? {
        guard let word = suspects.first(where: { !declarations.suggestion(for: $0).isEmpty || cluster($0) != nil })
        else { return nil }
        let isCluster = cluster(word) != nil
        let reason =
            isCluster ? ": behind the namespace options have their whole name" : declarations.suggestion(for: word)
        return "'\(word)' was taken as data\(reason)"
    }

    /// Reads words to their end.
    ///
    /// - Throws: `ParseError`.
    package mutating func read(_ words: ArraySlice<Word>) throws(ParseError) {
        var rest = words
        while let word = rest.popFirst() {
            if word.text == "--", !isEnded {
                isEnded = true
                guard let tail else { continue }
                guard tail.take(all: rest) else {
                    throw ParseError("the command to run is missing after '--'", isOfMissingWord: true)
                }
                mark(tail)
                return
            }
            let text = try text(of: word)
            if isEnded || !text.hasPrefix("-") || text == "-" || Self.isNumber(text) {
                try takeData(text)
            } else if let option = option(text) {
                try take(option, &rest)
            } else if isBehindNamespace {
                if suspects.count < Self.mostSuspects { suspects.append(text) }
                try takeData(text)
            } else if let letters = cluster(text) {
                for letter in letters { try take(letter, &rest) }
            } else {
                throw ParseError(unknown: text, declarations)
            }
        }
    }

    /// Checks that what must be given is there, and what the command itself checks.
    ///
    /// - Throws: `ParseError`.
    package func check(_ command: inout some ParsableArguments) throws(ParseError) {
        if let missing = declarations.all.first(where: { $0.isRequired && !given.contains(ObjectIdentifier($0)) }) {
            if missing.form == .tail {
                throw ParseError("the command to run is missing: put '--' and the command at the end")
            }
            throw ParseError("Missing expected argument '\(missing.title)'", about: missing)
        }
        do {
            try declarations.validateGroups()
            try command.validate()
        } catch let error as ParseError {
            throw error
        } catch let error as ValidationError {
            throw ParseError(error.description)
        } catch {
            throw ParseError(other: error)
        }
    }

    // MARK: Data

    private mutating func takeData(_ text: String) throws(ParseError) {
        guard let place else {
            if tail != nil { throw ParseError("'\(text)' is one word too many: put '--' before the command to run") }
            throw ParseError("Unexpected argument '\(text)'")
        }
        guard place.take(text) else { throw ParseError(invalid: text, for: place, suspects, declarations) }
        mark(place)
        data.append(text)
    }

    // MARK: Options

    /// An option as a word names it, and the value behind `=`.
    struct Named {
        let declaration: Declaration
        let name: String
        let joined: String?
    }

    /// The option that a word names as a whole, with or without `=` and a value.
    func option(_ word: String) -> Named? {
        // By bytes: a combining mark at the beginning of the value makes one character with the sign.
        let sign = word.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = String(sign.map { word[..<$0] } ?? word[...])
        guard let declaration = declarations.named(name) else { return nil }
        return Named(
            declaration: declaration,
            name: name,
            joined: sign.map { String(decoding: word.utf8[$0...].dropFirst(), as: UTF8.self) }
        )
    }

    /// The short options that stand together in a word, the last perhaps with its value: `-rE3`.
    private func cluster(_ word: String) -> [Named]? {
        var letters = word.dropFirst()
        guard !word.hasPrefix("--"), !letters.isEmpty else { return nil }
        var options: [Named] = []
        while let letter = letters.popFirst() {
            guard let declaration = declarations.named("-\(letter)") else { return nil }
            let takesRest = declaration.form == .value && !letters.isEmpty
            if letters.first == "=" { letters.removeFirst() }
            options.append(
                Named(declaration: declaration, name: "-\(letter)", joined: takesRest ? String(letters) : nil)
            )
            if takesRest { break }
        }
        return options
    }

    private mutating func take(_ option: Named, _ rest: inout ArraySlice<Word>) throws(ParseError) {
        let declaration = option.declaration
        mark(declaration)
        switch declaration.form {
        case .flag:
            if let value = option.joined {
                throw ParseError("The option '\(option.name)' does not take any value, but '\(value)' was specified.")
            }
            _ = declaration.take(option.name)
        case .value:
            var value = option.joined
            // If the variable that was to give the value is empty, `--` follows: `--root $ROOT -- CMD`.
            if value == nil, rest.first?.text != "--" { value = try next(&rest) }
            guard let value else {
                pending = declaration
                throw ParseError(
                    "Missing value for '\(declaration.title)'",
                    about: declaration,
                    isOfMissingWord: true
                )
            }
            guard declaration.take(value) else { throw ParseError(invalid: value, for: declaration, [], declarations) }
            values.append((option.name, value))
        case .pair:
            let name = option.joined == nil ? try next(&rest) : nil
            let value = try next(&rest)
            guard let name, let value else {
                pending = declaration
                throw ParseError(
                    "\(option.name) needs two words: a name and a value",
                    about: declaration,
                    isOfMissingWord: option.joined == nil
                )
            }
            do throws(ValidationError) { try declaration.take(name: name, value: value) } catch {
                throw ParseError("\(option.name): \(error)", about: declaration)
            }
        case .optionalValue:
            try takeOptional(option, &rest)
        case .positional, .tail:
            break
        }
    }

    private func takeOptional(_ option: Named, _ rest: inout ArraySlice<Word>) throws(ParseError) {
        let declaration = option.declaration
        guard let candidate = option.joined ?? rest.first?.text else { return declaration.takeBare() }
        if declaration.take(candidate) {
            if option.joined == nil { rest.removeFirst() }
        } else if option.joined == nil, !declaration.resembles(candidate) {
            declaration.takeBare()
        } else {
            let forms = declaration.forms.map { ": write \($0)" } ?? ""
            throw ParseError("'\(candidate)' is no \(declaration.valueName) for \(option.name)\(forms)")
        }
    }

    private func next(_ rest: inout ArraySlice<Word>) throws(ParseError) -> String? {
        guard let word = rest.popFirst() else { return nil }
        return try text(of: word)
    }

    private func text(of word: Word) throws(ParseError) -> String {
        guard word.isText else { throw ParseError(notText: word) }
        return word.text
    }

    private mutating func mark(_ declaration: Declaration) { given.append(ObjectIdentifier(declaration)) }

    // MARK: Numbers

    /// Whether a word is a JSON number (RFC 8259, section 6) that begins with its sign.
    package static func isNumber(_ word: String) -> Bool {
        var rest = word.utf8[...]
        func digits() -> Int {
            let found = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(found.count)
            return found.count
        }
        guard rest.popFirst() == UInt8(ascii: "-") else { return false }
        let leadingZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !(leadingZero && whole > 1) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard digits() > 0 else { return false }
        }
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
