import CommandWords
import SharedSpace
import SpaceInspection

// Completions that the shell asks for while a line is typed. What can't be looked up completes nothing.

extension CompletionKind {
    /// The names of the namespaces.
    static var namespaces: CompletionKind {
        .custom { request in offered((try? request.space.survey().names) ?? [], by: request.shell) }
    }

    /// The keys of the cells of the namespace on the line.
    static var keys: CompletionKind {
        of { (namespace, prefix) in try namespace.cells(prefix.isEmpty ? .all : .prefix(prefix)).map(\.key) }
    }

    /// The names of objects of this kind in the namespace on the line.
    static func objects(_ kinds: SharedObjectKind...) -> CompletionKind {
        of { (namespace, _) in
            let status = try namespace.status()
            return status.objects.filter { kinds.contains($0.kind) }.map(\.name)
                + status.holds.filter { kinds.contains($0.kind) }.map(\.name)
                + (kinds.contains(.responder) ? status.responders.map(\.name) : [])
        }
    }

    /// The numbers of the claims in the namespace on the line.
    static var claims: CompletionKind {
        of { (namespace, _) in try namespace.status().claims.map { "\($0.held.number)" } }
    }

    /// The names of the subscriptions in the namespace on the line.
    static var subscriptions: CompletionKind {
        of { (namespace, _) in try namespace.status().watchers.compactMap(\.subscription) }
    }

    private static func of(_ find: @escaping @Sendable (Namespace, String) throws -> [String]) -> CompletionKind {
        .custom { request in
            guard let name = request.data.first,
                let namespace = try? request.space.existingNamespace(name, owning: false)
            else { return [] }
            defer { try? namespace.leave() }
            let found = ((try? find(namespace, request.prefix)) ?? []).filter { $0.hasPrefix(request.prefix) }
            return offered(Set(found).sorted(), by: request.shell)
        }
    }

    /// Words that a shell may offer.
    ///
    /// Other processes choose keys and names, so a word must reach the command line as it is, and the shell must not
    /// evaluate any part of it. A word with control characters is left out, because the shell prints the words that it
    /// offers; so is one that bash or fish would put on the line without quoting it.
    private static func offered(_ words: [String], by shell: CompletionShell) -> [String] {
        let marks: Set<Character> = shell == .bash ? ["$", "`"] : []
        return Array(
            words.lazy.filter { word in
                !PeopleText.hasControls(word) && !(word.hasPrefix("~") && shell != .zsh)
                    && !word.contains(where: marks.contains)
            }.prefix(most)
        )
    }

    /// The most words that are offered: a longer list is of no use on a screen.
    private static let most = 1000
}

extension CompletionRequest {
    /// The space that the line names.
    fileprivate var space: Space { Space(trusting: value(of: "--root"), timeout: .seconds(1)) }
}
