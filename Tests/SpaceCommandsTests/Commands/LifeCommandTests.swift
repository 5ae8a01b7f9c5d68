import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

/// Ids and positions from one life of a namespace are not valid after the namespace was deleted and created again.
@Suite("lives", .blocking, .timeLimit(.minutes(5)))
struct LifeCommandTests {
    private func life(_ runner: CommandRunner) throws -> String {
        guard case .object(let status) = try Value(json: try runner.space("show", "jobs", "--json").output),
            case .string(let life)? = status["life"]
        else { throw TestFailure("show tells no life") }
        return life
    }

    @Test("An id that 'claim --hold' printed in an earlier life ends no claim of this one: 75")
    func claims() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell(
                """
                space write jobs '["job",1]'
                old=$(space claim jobs --hold '["job","?int"]')
                space delete jobs
                space write jobs '["job",2]'
                new=$(space claim jobs --hold '["job","?int"]')
                for command in complete release bury; do space $command jobs $old 2>/dev/null; echo $?; done
                space extend jobs $old 5m; echo $?
                printf '["complete",%s]' "$old" | space txn jobs 2>/dev/null; echo $?
                space claims jobs --tuple
                space complete jobs $new; echo $?
                """
            )
            #expect(result.lines == ["75", "75", "75", "75", "75", #"["job",2]"#, "0"])
            #expect(result.errors.contains("is of an earlier life of the namespace"))
            // The error for a number that no life has had names no other life.
            try runner.space("write", "new", "[1]")
            let never = try runner.space("complete", "new", "1")
            #expect(never.ending == .exited(75))
            #expect(never.errors.contains("there never was one"))
        }
    }

    @Test("watch prints its life, and a resume point of another life begins with a gap")
    func watching() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "[7]")
            let old = try life(runner)
            try runner.space("delete", "jobs")
            try runner.space("write", "jobs", "[1]", "[2]", "[3]", "[4]")
            let new = try life(runner)
            #expect(new != old)
            let ready = #"{"event":"ready","seq":4,"life":"\#(new)"}"#
            for from in ["8", "8@\(old)", "2@\(old)"] {
                let watch = try runner.space("watch", "jobs", "--from", from, "--wait", "0")
                #expect(watch.lines.first == ready, "\(from)")
                #expect(
                    watch.lines.count == 2 && watch.lines[1].hasSuffix(#""event":"gap","from":1,"to":4}"#),
                    "\(from)"
                )
            }
            for words in [["--from", "5@\(new)"], ["--from", "5"]] {
                let watch = try runner.start("space", ["watch", "jobs", "--wait", "0"] + words).finish()
                #expect(watch.lines == [ready], "\(words)")
            }
            let subscription = try runner.space("watch", "jobs", "--subscription", "s", "--life", old, "--wait", "0")
            #expect(subscription.lines.count == 2 && subscription.lines[1].contains(#""from":1,"to":4"#))
            let again = try runner.space("watch", "jobs", "--subscription", "s", "--life", new, "--wait", "0")
            #expect(again.lines == [ready])
        }
    }

    @Test("A malformed resume point is 64", arguments: ["", "@", "8@", "8@1", "8@00000000000000zz", "x"])
    func usage(_ from: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("watch", "jobs", "--from", from, "--wait", "0").ending == .exited(64))
            #expect(try runner.space("watch", "jobs", "--life", from, "--wait", "0").ending == .exited(64))
        }
    }

    @Test("A dump names the life, and loading it begins another")
    func dumping() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let old = try life(runner)
            let dump = try runner.dump("jobs", "--format", "json").output
            #expect(dump.contains(#""life":"\#(old)""#))
            try runner.space("delete", "jobs")
            #expect(try runner.start("space", ["load", "jobs"]).finish(input: dump).ending == .exited(0))
            #expect(try runner.tuples("jobs") == ["[1]"])
            #expect(try life(runner) != old)
        }
    }
}
