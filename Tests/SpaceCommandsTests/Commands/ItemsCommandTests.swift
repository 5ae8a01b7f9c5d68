import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

private struct Friend: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

@Suite("items", .blocking, .timeLimit(.minutes(5)))
struct ItemsCommandTests {
    /// Runs `space items n NAME words…`; a status other than 0 is the last line.
    private func items(_ runner: CommandRunner, _ words: String...) throws -> [String] {
        let result = try runner.start("space", ["items", "n"] + words).finish()
        return result.lines + (result.ending == .exited(0) ? [] : ["\(result.ending)"])
    }

    @Test("An ordered set is made, edited and listed")
    func edit() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("n")
            let one = ["\(Ending.exited(1))"]
            #expect(try items(runner, "songs") == one)
            #expect(try items(runner, "songs", "remove", #""a""#) == one)
            #expect(try namespace.objects.isEmpty)
            #expect(try items(runner, "songs", "append", #""b""#, #""c""#, #""b""#) == [])
            #expect(try items(runner, "songs", "append", #""b""#) == one)
            #expect(try items(runner, "songs", "insert", "0", #""a""#, #""-5""#) == [])
            #expect(try items(runner, "songs") == [#""a""#, #""-5""#, #""b""#, #""c""#])
            let songs = try namespace.orderedSet("songs", of: String.self)
            #expect(try items(runner, "songs", "-r", "at", "1") == ["-5"])
            #expect(try items(runner, "songs", "at", "4") == one)
            #expect(try items(runner, "songs", "index", #""c""#) == ["3"])
            #expect(try items(runner, "songs", "index", #""x""#) == one)
            #expect(try items(runner, "songs", "move", #""c""#, "0") == [])
            #expect(try items(runner, "songs", "move", #""x""#, "0") == one)
            #expect(try items(runner, "songs", "replace", #""-5""#, #""z""#) == [])
            #expect(try songs.elements() == ["c", "a", "z", "b"])
            #expect(try items(runner, "songs", "sort") == [])
            #expect(try songs.elements() == ["a", "b", "c", "z"])
            #expect(try items(runner, "songs", "remove", #""a""#, #""z""#, #""x""#) == [])
            #expect(try songs.elements() == ["b", "c"])
            #expect(try items(runner, "numbers", "append", "-5", "3") == [])
            #expect(try namespace.orderedSet("numbers", of: Int.self).elements() == [-5, 3])
            #expect(try items(runner, "jobs", "append", "--type", "Job", #"{"a":1}"#) == [])
            #expect(try namespace.orderedSet("jobs", of: Value.self, schema: "Job").count == 1)
        }
    }

    @Test("What is not allowed is refused with the status that says why")
    func refusals() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("n")
            try namespace.orderedSet("songs", of: String.self).append("a")
            try namespace.dictionary("settings", of: Int.self).updateValue(1, forKey: "k")
            func status(_ words: String...) throws -> Ending {
                try runner.start("space", ["items"] + words).finish().ending
            }
            for words in [
                ["append"], ["sort", "1"], ["insert", "0"], ["insert", "x", "1"], ["move", #""a""#], ["at", "-1"],
                ["nonsense"],
                ["move", #""a""#, "7"], ["insert", "9", #""b""#], ["remove", #""a""#, "--type", "Int"],
            ] {
                let ending = try runner.start("space", ["items", "n", "songs"] + words).finish().ending
                #expect(ending == .exited(64), "\(words)")
            }
            #expect(try status("n", "songs", "append", "5") == .exited(65))
            #expect(try status("n", "songs", "append", "{") == .exited(65))
            #expect(try status("n", "songs", "replace", #""a""#, "5") == .exited(65))
            #expect(try status("n", "songs", "append", "--type", "Int", "5") == .exited(65))
            #expect(try status("n", "settings") == .exited(65))
            #expect(try status("missing", "songs") == .exited(69))
            #expect(try status("missing", "songs", "remove", "1") == .exited(69))
            #expect(try namespace.orderedSet("songs", of: String.self).elements() == ["a"])
        }
    }

    @Test("A set with keys is edited by key, dumped, checked and loaded")
    func keys() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("n")
            let friends = [Friend(id: 1, name: "Ada"), Friend(id: 2, name: "Bob"), Friend(id: 3, name: "Cid")]
            let set = try namespace.orderedSet("friends", id: \.id, initial: friends)
            #expect(try items(runner, "friends", "index", "2") == ["1"])
            #expect(try items(runner, "friends", "move", "3", "0") == [])
            #expect(try items(runner, "friends", "remove", "2") == [])
            #expect(try set.elements() == [friends[2], friends[0]])
            let refused = try runner.space("items", "n", "friends", "append", #"{"id":4,"name":"D"}"#)
            #expect(refused.ending == .exited(65) && refused.errors.contains("keys"))
            #expect(try items(runner, "friends") == [#"{"id":3,"name":"Cid"}"#, #"{"id":1,"name":"Ada"}"#])
            let dump = try runner.dump("n", "--format", "json")
            #expect(dump.output.contains(#""key_type":"Int""#) && dump.output.contains(#""key":3"#))
            #expect(try runner.dump("n", "--check").ending == .exited(0))
            #expect(try runner.space("load", "again", "--persistent", input: dump.output).ending == .exited(0))
            let again = try Space(root: runner.root).namespace("again").orderedSet("friends", of: Friend.self, id: \.id)
            #expect(try again.append(Friend(id: 1, name: "Ada L.")) == (false, 1))
            #expect(try runner.dump("again", "--check").ending == .exited(0))
            let salvaged = try runner.dump("n", "--salvage")
            #expect(salvaged.lines.filter { $0.contains("friends") } == dump.lines.filter { $0.contains("friends") })
            for line in [#""element":1"#, #""key":[{}],"element":1"#] {
                let text =
                    #"{"kind":"collection","name":"x","type":"orderedSet","element_type":"A""#
                    + (line.contains("key") ? "" : #","key_type":"B""#)
                let input = text + "}\n" + #"{"kind":"element","collection":"x",\#(line)}"#
                #expect(try runner.space("load", "again", input: input).ending == .exited(65))
            }
        }
    }
}
