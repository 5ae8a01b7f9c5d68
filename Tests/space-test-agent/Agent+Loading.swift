import SharedSpace
import SpaceInspection

// Loading what a dump has.

extension Agent {
    func performLoading(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "load-new": try loadNew(words)
        case "load-into": try namespace().load(contents(try number(words, 0)))
        default: return nil
        }
        return "ok"
    }

    /// `load-new <root> <name> <tuples> [<mode>]`: makes a namespace that has them from the start.
    private func loadNew(_ words: [String]) throws {
        let space = try Space(root: try word(words, 0), timeout: .seconds(20))
        let name = try word(words, 1)
        let mode = words.count > 3 ? StorageMode(rawValue: words[3]) : nil
        let initial = InitialContents(contents(try number(words, 2)), of: name)
        let options = NamespaceOptions(mode: mode)
        let made = try space.open(name, owner: .session, creates: true, options: options, contents: initial)
        try made.leave()
    }

    private func contents(_ count: Int) -> LoadedContents {
        LoadedContents(tuples: (0..<count).map { LoadedTuple(tuple: Tuple("loaded", $0), expires: nil) })
    }
}
