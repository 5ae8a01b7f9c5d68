import ArgumentParser
import SharedSpace

// Completions that the shell asks for while a line is typed. What can't be looked up completes nothing.

extension CompletionKind {
    /// The names of the namespaces.
    static var namespaces: CompletionKind {
        .custom { (words, _, _) in (try? CompletedLine(words).space.survey().names) ?? [] }
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
            let found = ((try? find(namespace, prefix)) ?? []).filter { $0.hasPrefix(prefix) && !$0.contains("\n") }
            return Array(Set(found).sorted().prefix(most))
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
        var rest = words.dropFirst()
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
}
