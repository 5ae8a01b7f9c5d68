import SharedSpaceObjects

// Dictionaries: processes that change them, and processes that keep a copy.

extension Agent {
    func performOnDictionaries(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "dict-open": dictionary = try namespace().dictionary(try word(words, 0), of: Int.self)
        case "dict-get": return "ok \(try openDictionary().value(forKey: try word(words, 0)) ?? -1)"
        case "dict-add":
            // `dict-add <key> <count>`.
            let dictionary = try openDictionary()
            for _ in 0..<(try number(words, 1)) as Range<Int> { try dictionary.modify(words[0]) { $0 = ($0 ?? 0) + 1 } }
        case "dict-add-pair-on":
            // Two keys at once, until it is killed or told to stop.
            let dictionary = try openDictionary()
            say("ok")
            while try goesOn(namespace()) {
                try namespace().transaction { t in
                    let dictionary = try t.dictionary(dictionary)
                    for key in words { try dictionary.modify(key) { $0 = ($0 ?? 0) + 1 } }
                }
            }
        case "dict-clear": try openDictionary().removeAll()
        case "dict-double":
            let dictionary = try openDictionary()
            try dictionary.merge(try dictionary.snapshot()) { $0 + $1 }
        case "dict-remove": try openDictionary().remove()
        case "dict-follow": return "ok \(try await followDictionary())"
        default: return nil
        }
        return "ok"
    }

    private func openDictionary() throws -> SharedDictionary<Int> {
        guard let dictionary else { throw Failure("no dictionary is open") }
        return dictionary
    }

    /// Keeps a copy up to the key `end`.
    private func followDictionary() async throws -> String {
        let dictionary = try openDictionary()
        let changes = try dictionary.changes()
        say("waiting")
        var copy: [String: Int] = [:]
        for try await change in changes {
            change.apply(to: &copy)
            if copy["end"] != nil { break }
        }
        guard try dictionary.snapshot() == copy else { throw Failure("the copy differs: \(copy)") }
        return "\(copy.count)"
    }
}
