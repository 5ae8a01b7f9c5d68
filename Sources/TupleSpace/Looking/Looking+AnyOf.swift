import SpaceSystem
import TupleCoding

// Finding the first match of any of several templates.

extension Looking {
    /// How often the looks are repeated because other processes took what was found.
    private static let looksForAny = 64

    /// Looks for the template whose first match comes first; `nil` if none has a match.
    private func firstTemplate(_ templates: [TemplateForm], _ order: MatchOrder) throws(SpaceError) -> TemplateForm? {
        var best: (id: TupleID, template: TemplateForm)?
        for template in templates {
            let found = try lookToRead(template, order) { (match) throws(SpaceError) in match.id }
            guard let id = found?.result else { continue }
            if let best, order == .oldestFirst ? best.id < id : best.id > id { continue }
            best = (id, template)
        }
        return best?.template
    }

    /// Looks by a template; by one of several, by that whose first match comes first.
    @inline(__always)
    func firstOfChoices<Result>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ aim: Aim = Aim(),
        by look: (TemplateForm) throws(SpaceError) -> Found<Result>?
    ) throws(SpaceError) -> Found<Result>? {
        guard let choices = template.choices else { return try look(template) }
        if aim.only != nil {
            for choice in choices { if let found = try look(choice) { return found } }
            return nil
        }
        try template.checkChoice()
        return try lookForAny(of: choices, order, look)
    }

    /// Passes `find` the template whose first match comes first, until `find` has found it before other processes.
    @inline(never)
    private func lookForAny<Result>(
        of templates: [TemplateForm],
        _ order: MatchOrder,
        _ find: (TemplateForm) throws(SpaceError) -> Found<Result>?
    ) throws(SpaceError) -> Found<Result>? {
        for _ in 0..<Self.looksForAny {
            guard let template = try firstTemplate(templates, order) else { return nil }
            if let found = try find(template) { return found }
        }
        return nil
    }
}

extension TemplateForm {
    /// Throws `invalidArgument` for a choice of no templates, which nothing matches.
    func checkChoice() throws(SpaceError) {
        guard let choices, choices.isEmpty else { return }
        throw .misuse("there is no template to look for", advice: "give one at least")
    }
}
