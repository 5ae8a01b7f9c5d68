import ArgumentParser
import SharedSpace

// Completions that the shell asks for while a line is typed. What can't be looked up completes nothing.

extension CompletionKind {
    /// The names of the namespaces.
    static var namespaces: CompletionKind {
        .custom { (words, _, _) in offered((try? CompletedLine(words).space.survey().names) ?? []) }
    }

    /// The keys of the cells of the namespace on the line.
    static var keys: CompletionKind {
        of { (namespace, prefix) in try namespace.cells(prefix.isEmpty ? .all : .prefix(prefix)).map(\.key) }
    }

    /// The names of objects of this kind in the namespace on the line.
    static func objects(_ kinds: SharedObjectKind...) -> CompletionKind {
        let words = kinds.map(\.word)
        return of { (namespace, _) in
            let status = try namespace.status()
            return status.objects.filter { words.contains($0.kind) }.map(\.name)
                + status.holds.filter { words.contains($0.kind) }.map(\.name)
                + (kinds.contains(.responder) ? status.responders.map(\.name) : [])
        }
    }

    /// The numbers of the claims in the namespace on the line.
    static var claims: CompletionKind { of { (namespace, _) in try namespace.status().claims.map { "\($0.number)" } } }

    /// The names of the subscriptions in the namespace on the line.
    static var subscriptions: CompletionKind {
        of { (namespace, _) in try namespace.status().watchers.compactMap(\.subscription) }
    }

    private static func of(_ find: @escaping @Sendable (Namespace, String) throws -> [String]) -> CompletionKind {
        .custom { (words, _, prefix) in
            let line = CompletedLine(words)
            guard let name = line.namespace, let namespace = try? line.space.existingNamespace(name, owning: false)
            else { return [] }
            defer { try? namespace.leave() }
            let found = ((try? find(namespace, prefix)) ?? []).filter { $0.hasPrefix(prefix) }
            return offered(Set(found).sorted())
        }
    }

    /// Words in the form that the shell's completion script takes.
    ///
    /// Other processes choose keys and names, so a word must reach the command line as it is, and the shell must not
    /// evaluate any part of it. A word with control characters is left out, because the shell prints the words that it
    /// offers; so is one that bash or fish would put on the line without quoting it.
    private static func offered(_ words: [String]) -> [String] {
        let shell = CompletionShell.requesting
        let words = words.filter { !PeopleText.hasControls($0) && !($0.hasPrefix("~") && shell != .zsh) }.prefix(most)
        return switch shell {
        // bash(1), compgen -W: each word is expanded, command substitutions too; within single quotes nothing is.
        case .bash?:
            words.filter { !$0.contains("$") && !$0.contains("`") }.map { "'\($0.replacing("'", with: #"'\''"#))'" }
        // zshcompsys(1), _describe: what follows a colon is a description.
        case .zsh?: words.map { $0.replacing(#"\"#, with: #"\\"#).replacing(":", with: #"\:"#) }
        default: Array(words)
        }
    }

    /// The most words that are offered: a longer list is of no use on a screen.
    private static let most = 1000
}

/// A line that is being typed: the root and the namespace on it.
private struct CompletedLine {
    let space: Space
    let namespace: String?

    /// Takes the words of the line, the first of which is the program.
    init(_ words: [String]) {
        var data: [String] = []
        var root: String?
        // fish passes words without their quotes; bash and zsh pass them as typed.
        let isTyped = CompletionShell.requesting != .fish
        var rest = words.dropFirst().map { isTyped ? Self.unquoted($0) : $0 }[...]
        while let word = rest.popFirst(), word != "--" {
            if let value = word.split(separator: "=", maxSplits: 1).last, word.hasPrefix("--root=") {
                root = String(value)
            } else if ["--root", "--timeout", "--owner", "-E"].contains(word) {
                let value = rest.popFirst()
                if word == "--root" { root = value }
            } else if !word.hasPrefix("-") {
                data.append(word)
            }
        }
        // The word that is being typed may be the namespace itself; then there is none to look into.
        namespace = data.count > 1 ? data[1] : nil
        space = Space(trusting: root, timeout: .seconds(1))
    }

    /// Removes the quotes and backslashes of a typed word, and expands nothing.
    private static func unquoted(_ typed: String) -> String {
        var word = ""
        var quote: Character?
        var rest = typed[...]
        while let character = rest.popFirst() {
            switch (quote, character) {
            case (nil, "\\"): if let next = rest.popFirst() { word.append(next) }
            case ("\"", "\\"):
                // bash(1): between double quotes a backslash quotes only these characters.
                let isEscape = rest.first.map { "\"\\$`".contains($0) } ?? false
                word.append(isEscape ? rest.removeFirst() : character)
            case (nil, "'"), (nil, "\""): quote = character
            case (character, _): quote = nil
            default: word.append(character)
            }
        }
        return word
    }
}
