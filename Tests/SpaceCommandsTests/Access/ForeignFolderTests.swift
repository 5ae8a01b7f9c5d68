import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// Folders of a root that are not namespaces, and files in a namespace's folder that are not the namespace's: none of
/// them is deleted.
@Suite("Folders and files that belong to no namespace", .blocking, .timeLimit(.minutes(5)))
struct ForeignFolderTests {
    /// Makes three such folders: a person's documents, another program's LMDB database, and one with a file that only
    /// bears a name that namespaces use.
    private static let folders = """
        cd "$SHARED_SPACE_ROOT" || exit 9
        mkdir -p Documents/sub lmdb package && echo precious > Documents/sub/file
        echo precious > lmdb/data.mdb && echo precious > lmdb/lock.mdb && echo precious > package/control

        """

    private static let names = ["Documents", "lmdb", "package"]

    @Test("A folder that was never a namespace is neither listed nor deleted")
    func foreignFolders() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.shell(Self.folders).status == 0)
            for words in [["list"], ["list", "--long"], ["list", "--json"], ["reap"]] {
                let result = try runner.start("space", words).finish()
                #expect(result.ending == .exited(0) && result.errors == "", "\(words): \(result.errors)")
                for name in Self.names { #expect(!result.output.contains(name), "\(words): \(result.output)") }
            }
            for name in Self.names {
                let deleted = try runner.space("delete", name)
                #expect(deleted.ending == .exited(69))
                #expect(deleted.errors.contains("a folder without a namespace's files"), "\(deleted.errors)")
                guard name != "package" else { continue }
                let written = try runner.space("write", name, "[1]")
                #expect(written.ending == .exited(74))
                #expect(written.errors.contains("a folder without a namespace's files"), "\(written.errors)")
            }
            let kept = try runner.shell(#"cd "$SHARED_SPACE_ROOT" && cat Documents/sub/file lmdb/* package/control"#)
            #expect(kept.lines == Array(repeating: "precious", count: 4))
        }
    }

    @Test(
        "A namespace's folder with a foreign file in it is not deleted, and the file is named",
        arguments: ["notes", "sub/notes", "sessions/notes", "notes\u{FFFD}", "latency"],
        [false, true]
    )
    func foreignFiles(_ file: String, _ isDamaged: Bool) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--persistent", "[1]")
            // A name that is not UTF-8 is a name as well.
            let path = "'\(runner.root)/jobs/\(file.replacing("\u{FFFD}", with: "'$(printf '\\377')'"))'"
            #expect(try runner.shell("mkdir -p \"$(dirname \(path))\" && echo precious > \(path)").status == 0)
            if isDamaged { #expect(unlink("\(runner.root)/jobs/control") == 0) }

            let refused = try runner.space("delete", "jobs")
            #expect(refused.ending == .exited(69))
            let entry = file.hasPrefix("sub") ? "sub" : file
            #expect(refused.errors.contains("\"\(entry)\", which is no file of a namespace"), "\(refused.errors)")
            #expect(try runner.shell("cat \(path)").output == "precious\n")
            if !isDamaged { #expect(try runner.tuples("jobs") == ["[1]"]) }

            #expect(try runner.shell("rm \(path); rmdir \"$SHARED_SPACE_ROOT/jobs/sub\"; true").status == 0)
            #expect(try runner.space("delete", "jobs").ending == .exited(0))
            #expect(try runner.space("list").output == "")
        }
    }
}
