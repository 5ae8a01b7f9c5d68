import SpaceSystem
import TupleCoding

// Finding the first match of any of several templates.

extension NamespaceCore {
    /// How often the looks are repeated because other processes took what was found.
    private static let looksForAny = 64

    /// Looks for the template whose first match comes first; `nil` if none has a match.
    private func firstTemplate(_ templates: [Template], _ order: MatchOrder) throws(SpaceError) -> Template? {
        var best: (id: TupleID, template: Template)?
        for template in templates {
            let found = try lookToRead(template, order) { (match) throws(SpaceError) in match.id }
            guard let id = found?.result else { continue }
            if let best, order == .oldestFirst ? best.id < id : best.id > id { continue }
            best = (id, template)
        }
        return best?.template
    }

    /// Passes `find` the template whose first match comes first, until `find` has found it before other processes.
    func lookForAny<Result>(
        of templates: [Template],
        _ order: MatchOrder,
        _ find: (Template) throws(SpaceError) -> Found<Result>?
    ) throws(SpaceError) -> Found<Result>? {
        for _ in 0..<Self.looksForAny {
            guard let template = try firstTemplate(templates, order) else { return nil }
            if let found = try find(template) { return found }
        }
        return nil
    }
}

extension Interest {
    /// What a waiter for any of several templates waits for.
    ///
    /// One template is waited for as such. With several, every tuple that appears wakes the waiter, which passes on what
    /// none of them matches.
    init(anyOf templates: [Template], isTaking: Bool) {
        self.init(templates.count == 1 ? templates[0] : .any, isTaking: isTaking)
    }
}

extension [Template] {
    /// What is waited for, as tools show it.
    var waitText: String { map(\.json).joined(separator: " or ") }

    func checkNotEmpty() throws(SpaceError) {
        guard isEmpty else { return }
        throw .misuse("there is no template to look for", advice: "give one at least")
    }
}
