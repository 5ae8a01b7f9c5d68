import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// What is too much for a command is refused with its limit and the right status.
@Suite("Bounds of commands", .blocking, .timeLimit(.minutes(5)))
struct BoundCommandTests {
    private static let much = "head -c 70000000 /dev/zero"

    @Test("A command that prints more than a tuple can have")
    func evaluation() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell("space eval n -- \(Self.much)")
            #expect(result.ending == .exited(65))
            #expect(result.errors.contains("more than 67108864 bytes (64 MiB)"), "\(result.errors)")
        }
    }

    @Test("A reply that is larger than a value can be")
    func reply() throws {
        try withRoot { (runner) throws in
            let command = Self.much.split(separator: " ").map(String.init)
            let responder = try runner.start("space", ["respond", "n", "r", "--once", "--"] + command)
            let result = try runner.space("request", "n", "r", "--wait")
            #expect(result.ending == .exited(76))
            #expect(result.errors.contains("more than 67108864 bytes (64 MiB)"), "\(result.errors)")
            #expect(!result.errors.contains("141"))
            _ = try responder.finish()
        }
    }

    @Test("A line of standard input without an end", arguments: ["write n -", "txn n"])
    func line(_ command: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "n", "[1]")
            // The writer ends by SIGPIPE as soon as the command has seen enough.
            let result = try runner.shell("yes | tr -d '\\n' | space \(command)")
            #expect(result.ending == .exited(65))
            #expect(result.errors.contains("line 1: longer than 134217728 bytes"), "\(result.errors)")
        }
    }

    @Test("A regular expression that takes too many steps is an error, and one that goes back takes none")
    func expression() throws {
        try withRoot { (runner) throws in
            let tuple = #"["\#(String(repeating: "a", count: 60_000))"]"#
            #expect(try runner.start("space", ["write", "n", "-"]).finish(input: tuple + "\n").status == 0)
            #expect(try runner.space("count", "n", #"["?/^(a+)+!/"]"#).output == "0\n")
            for command in ["count", "read", "take"] {
                let result = try runner.space(command, "n", #"["?/(a?){1000}b/"]"#)
                #expect(result.ending == .exited(65), "\(command)")
                #expect(result.errors.contains("takes too many steps"), "\(result.errors)")
            }
            #expect(try runner.space("count", "n").output == "1\n")
            #expect(try runner.space("read", "n", #"["?/(?=a)/"]"#).ending == .exited(65))
        }
    }

    @Test("A signal ends a look", arguments: [2, 15, 1, 14] as [Int32])
    func signal(_ number: Int32) throws {
        try withRoot { (runner) throws in
            // Each tuple takes some tenths of a second, and all of them minutes.
            let line = #"["\#(String(repeating: "a", count: 10_000))"]"# + "\n"
            let writing = try runner.start("space", ["write", "n", "--persistent", "-"])
            #expect(try writing.finish(input: String(repeating: line, count: 1000)).status == 0)
            let look = try runner.start("space", ["count", "n", #"["?/(a?){500}b/"]"#])
            // While it looks, the namespace's data file is mapped.
            #expect(try eventually { look.openFiles.contains { $0.hasSuffix("/data.mdb") } })
            look.signal(number)
            #expect(try look.wait() == .signalled(number))
            try runner.space("delete", "n")
        }
    }

    @Test("What is read in parts is each tuple once, in order", arguments: [[], ["--newest"]])
    func parts(_ options: [String]) throws {
        try withRoot { (runner) throws in
            // More than two parts of 4 MiB.
            let text = String(repeating: "x", count: 20_000)
            let lines = (0..<500).map { #"["\#($0 % 3 == 0 ? "a" : "b")",\#($0),"\#(text)"]"# }
            #expect(
                try runner.start("space", ["write", "n", "-"]).finish(input: lines.joined(separator: "\n")).status == 0
            )
            let all = options.isEmpty ? lines : lines.reversed()
            for templates in [[#""?""#], [#"["a","?","?"]"#, #"["b","?","?"]"#, #"["?",7,"?"]"#]] {
                let result = try runner.start("space", ["read", "n", "--all"] + options + templates).finish()
                #expect(result.lines == all)
                let some = try runner.start("space", ["read", "n", "--max", "450"] + options + templates).finish()
                #expect(some.lines == Array(all.prefix(450)))
            }
        }
    }

    @Test("A umask that takes everything away leaves a root that its user can use")
    func umask() throws {
        try withRoot { (runner) throws in
            let base = try TemporaryRoot()
            chmod(base.path, 0o777)
            // For root, permissions have no meaning.
            let user = getuid() == 0 ? "setpriv --reuid 12345 --regid 12345 --clear-groups" : ""
            let environment = ["SHARED_SPACE_ROOT": "\(base.path)/root"]
            let script = """
                umask 0777
                space write --persistent n '[1]' && space lock n l -- true && umask 022 && space read n '[1]' && space take n '["?"]' \
                    && space delete n && space list
                """
            let result = try runner.start(
                "/usr/bin/env",
                (user.isEmpty ? [] : user.split(separator: " ").map(String.init)) + ["/bin/sh", "-c", script],
                environment: environment
            ).finish()
            #expect(result.ending == .exited(0))
            #expect(result.output == "[1]\n[1]\n")
            #expect(result.errors == "")
            Self.remove("\(base.path)/root")
        }
    }

    private static func remove(_ path: String) {
        _ = try? CommandRunner(root: path).shell("rm -rf '\(path)'")
    }
}
