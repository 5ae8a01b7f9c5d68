import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("Collections in the commands", .blocking, .timeLimit(.minutes(5)))
struct CollectionCommandTests {
    private func fill(_ runner: CommandRunner) throws -> Namespace {
        let namespace = try Space(root: runner.root).namespace("jobs")
        let songs = try namespace.orderedSet("so\tngs", of: [String].self, schema: "Song")
        try songs.append(contentsOf: [["a", "1"], ["b\u{1b}"], ["c"]])
        try namespace.orderedSet("empty", of: Int.self).removeAll()
        return namespace
    }

    @Test("A dump of collections can be loaded")
    func load() throws {
        try withRoot { (runner) throws in
            let namespace = try fill(runner)
            let dump = try runner.dump("jobs", "--format", "json")
            let empty = #"{"kind":"collection","name":"empty","type":"orderedSet","element_type":"Int","count":0}"#
            #expect(dump.lines.contains(empty))
            #expect(dump.lines.contains(#"{"kind":"element","collection":"so\tngs","element":["a","1"]}"#))
            #expect(try runner.space("load", "again", "--persistent", input: dump.output).ending == .exited(0))
            let other = try runner.dump("again", "--format", "json")
            func collections(_ lines: [String]) -> [String] {
                lines.filter { $0.hasPrefix(#"{"kind":"collection"#) || $0.hasPrefix(#"{"kind":"element"#) }
            }
            #expect(collections(other.lines) == collections(dump.lines) && collections(dump.lines).count == 5)
            // Existing elements stay where they are.
            let again = try Space(root: runner.root).namespace("again")
            let songs = try again.orderedSet("so\tngs", of: [String].self, schema: "Song")
            try songs.remove(at: 1)
            #expect(try runner.space("load", "again", input: dump.output).ending == .exited(0))
            #expect(try songs.elements() == [["a", "1"], ["c"], ["b\u{1b}"]])
            // A load does all or nothing.
            let bad =
                #"{"kind":"tuple","id":1,"tuple":[1]}"# + "\n"
                + #"{"kind":"collection","name":"empty","type":"orderedSet","element_type":"String","count":0}"#
            #expect(try runner.space("load", "again", input: bad).ending == .exited(65))
            #expect(try again.count() == 0)
            let stray = #"{"kind":"element","collection":"empty","element":1}"#
            #expect(try runner.space("load", "again", input: stray).ending == .exited(65))
            withExtendedLifetime(namespace) {}
        }
    }

    @Test("Text and show name the collections, control characters escaped")
    func show() throws {
        try withRoot { (runner) throws in
            let namespace = try fill(runner)
            let text = try runner.dump("jobs").output
            #expect(text.contains("ordered set so\\tngs of Song") && !text.contains("\u{1b}"))
            let shown = try runner.space("show", "jobs", "--json").output
            #expect(shown.contains(#"{"name":"so\tngs","type":"orderedSet","element_type":"Song","count":3}"#))
            #expect(try runner.space("show", "jobs").output.contains("2 named objects"))
            withExtendedLifetime(namespace) {}
        }
    }

    @Test("watch prints the changes of collections")
    func watch() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            let songs = try namespace.orderedSet("songs", of: String.self)
            let other = try namespace.orderedSet("other", of: String.self)
            let watch = try runner.start("space", ["watch", "jobs", "--collection", "songs", "--max", "7"])
            _ = try watch.readLine()
            try songs.append(contentsOf: ["a", "b", "c"])
            try other.append("x")
            try songs.append("d")
            try songs.replace("a", with: "e")
            try songs.move(fromOffsets: [0, 1], to: 2)
            try songs.remove("d")
            try songs.reverse()
            try songs.remove()
            var lines: [String] = []
            while let line = try watch.readLine() { lines.append(line) }
            let edits = lines.map { line in
                let start = line.firstRange(of: #""event""#)?.lowerBound
                return String(line[(start ?? line.startIndex)...])
            }
            #expect(
                edits == [
                    #""event":"insert","key":"songs","index":0,"elements":["a","b","c"]}"#,
                    #""event":"insert","key":"songs","index":3,"new":"d"}"#,
                    #""event":"replace","key":"songs","index":0,"old":"a","new":"e"}"#,
                    #""event":"move","key":"songs","indices":[0,1],"to":2,"elements":["e","b"]}"#,
                    #""event":"remove","key":"songs","index":1,"old":"d"}"#,
                    #""event":"sort","key":"songs","order":[2,1,0]}"#,
                    #""event":"discard","key":"songs"}"#,
                ]
            )
            try watch.wait()
        }
    }

    @Test("A dictionary's entries are read and set as cells")
    func dictionary() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            let settings = try namespace.dictionary("settings", of: Int.self)
            try settings.updateValue(3, forKey: "retries")
            #expect(try runner.space("get", "jobs", "settings/retries").output == "3\n")
            let watches = try [[], ["--events", "set,unset"]].map { (options) throws in
                let watch = try runner.start(
                    "space",
                    ["watch", "jobs", "--collection", "settings", "--max", "2"] + options
                )
                _ = try watch.readLine()
                return watch
            }
            #expect(try runner.space("set", "jobs", "other", "1").ending == .exited(0))
            #expect(try runner.space("set", "jobs", "settings/retries", "5").ending == .exited(0))
            #expect(try settings["retries"] == 5)
            try settings.removeValue(forKey: "retries")
            for watch in watches {
                var lines: [String] = []
                while let line = try watch.readLine() { lines.append(line) }
                #expect(lines.count == 2)
                #expect(lines.first?.hasSuffix(#""event":"set","key":"settings/retries","old":3,"new":5}"#) ?? false)
                #expect(lines.last?.hasSuffix(#""event":"unset","key":"settings/retries","old":5}"#) ?? false)
                try watch.wait()
            }
            let shown = try runner.space("show", "jobs", "--json").output
            #expect(shown.contains(#"{"name":"settings","type":"dictionary","element_type":"Int","count":0}"#))
        }
    }

    @Test("A dictionary is loaded with its type, and its entries with the cells")
    func dictionaryLoad() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            try namespace.dictionary("settings", of: Int.self).merge(["a": 1, "b/c": 2]) { $1 }
            try namespace.dictionary("em\u{1b}pty", of: [String].self, schema: "Words").removeAll()
            let dump = try runner.dump("jobs", "--format", "json")
            let line = #"{"kind":"collection","name":"settings","type":"dictionary","element_type":"Int","count":2}"#
            #expect(dump.lines.contains(line))
            let text = try runner.dump("jobs").output
            #expect(text.contains("dictionaries") && text.contains(" Words ") && !text.contains("\u{1b}"))

            #expect(try runner.space("load", "again", "--persistent", input: dump.output).ending == .exited(0))
            let copy = try runner.dump("again", "--format", "json").lines.filter { $0.contains("collection") }
            #expect(copy == dump.lines.filter { $0.contains("collection") } && copy.count == 2)
            let again = try Space(root: runner.root).namespace("again")
            // The type is agreed on before a process opens the dictionary.
            let refusal = #expect(throws: SpaceError.self) { try again.dictionary("settings", of: String.self) }
            #expect(refusal?.code == .typeMismatch)
            let settings = try again.dictionary("settings", of: Int.self)
            #expect(try settings.snapshot() == ["a": 1, "b/c": 2])
            #expect(try again.dictionary("em\u{1b}pty", of: [String].self, schema: "Words").isEmpty)
            // Loaded a second time: the entries are set as the dump has them, and others stay.
            try settings.merge(["a": 7, "new": 8]) { $1 }
            #expect(try runner.space("load", "again", input: dump.output).ending == .exited(0))
            #expect(try settings.snapshot() == ["a": 1, "b/c": 2, "new": 8])
            #expect(try again.verify() == [])
            withExtendedLifetime(namespace) {}
        }
    }

    static let bad = [
        #"{"kind":"collection","name":"settings","type":"dictionary","element_type":"String","count":0}"#,
        #"{"kind":"collection","name":"settings","type":"orderedSet","element_type":"Int","count":0}"#,
        #"{"kind":"collection","name":"a/b","type":"dictionary","element_type":"Int","count":0}"#,
        #"{"kind":"collection","name":"d","type":"lock","element_type":"Int","count":0}"#,
        #"{"kind":"collection","name":"d","type":"dictionary","element_type":"","count":0}"#,
        #"{"kind":"collection","name":"d","type":"dictionary","element_type":"Int","count":0}"# + "\n"
            + #"{"kind":"element","collection":"d","element":1}"#,
    ]

    @Test("A line that no dictionary can have is bad data, and nothing of it is loaded", arguments: bad)
    func badDictionary(_ text: String) throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            try namespace.dictionary("settings", of: Int.self).updateValue(1, forKey: "a")
            let cell = #"{"kind":"cell","key":"settings/a","value":2}"#
            let result = try runner.space("load", "jobs", input: "\(cell)\n\(text)\n")
            #expect(result.ending == .exited(65), "\(result.errors)")
            #expect(try namespace.get("settings/a") == 1)
            #expect(try namespace.status().objects.map(\.name) == ["settings"])
        }
    }
}
