import Glibc
import SharedSpace
import SpaceEngine
import SpaceInspection
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

/// Backups by moments, and namespaces made of them.
@Suite("Backup and replay", .blocking, .timeLimit(.minutes(5)))
struct BackupCommandTests {
    /// The dump of a namespace without what tells its folder's size and age, and its owners.
    private func contents(_ runner: CommandRunner, _ name: String) throws -> [String] {
        let result = try runner.start("space-dump", [name, "--format", "json"]).finish()
        #expect(result.ending == .exited(0), "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
            // The time of an expiry is reckoned from now, and may differ by a millisecond.
            .map { $0.replacing(/"expires":\d+/, with: #""expires":1"#) }
            .filter { !$0.hasPrefix(#"{"kind":"namespace""#) && !$0.hasPrefix(#"{"kind":"owner""#) }
    }

    private func number(_ text: String, _ key: String) throws -> Int? {
        guard case .int(let number)? = try Value(json: text)[key] else { return nil }
        return number
    }

    private func fill(_ runner: CommandRunner) throws {
        try runner.space("write", "--persistent", "n", #"["job",1]"#, #"["job",2]"#, #"{"kind":"file"}"#)
        try runner.space("history", "n", "1000")
        for key in ["cfg.host", "cfg.port"] { try runner.space("set", "n", key, "1") }
        try runner.space("set", "n", "soon", "1", "--expires", "1h")
        try runner.space("queue", "n", "q", "put", #""a""#, #""b""#)
        try runner.space("items", "n", "set", "append", "1", "2", "3")
        try runner.space("counter", "n", "count", "5")
    }

    @Test("Each moment is the namespace as it was: tuples, cells, queues, ordered sets, counters and history")
    func moments() throws {
        try withRoot { (runner) throws in
            try fill(runner)
            let file = "\(runner.root)/.moments"
            #expect(try number(try runner.space("backup", "n", "--to", file).output, "moments") == 1)
            let first = try contents(runner, "n")
            #expect(first.count > 8, "\(first)")

            #expect(try number(try runner.space("backup", "n", "--to", file).output, "rows") == 0)
            try runner.space("take", "n", #"["job",1]"#)
            try runner.space("queue", "n", "q", "take")
            try runner.space("unset", "n", "cfg.host")
            try runner.space("write", "n", #"["late",true]"#)
            let second = try runner.space("backup", "n", "--to", file).output
            #expect(try number(second, "moments") == 2)
            let later = try contents(runner, "n")
            #expect(later != first)

            let list = try runner.space("replay", "--list", "--from", file).output.split(separator: "\n")
            #expect(list.count == 2)
            let sequence = try number(String(list[0]), "sequence") ?? 0
            try runner.space("replay", "last", "--from", file)
            try runner.space("replay", "first", "--from", file, "--to", "\(sequence + 1)")
            let (last, earlier) = (try contents(runner, "last"), try contents(runner, "first"))
            #expect(last == later, "\(last.difference(from: later))")
            #expect(earlier == first, "\(earlier.difference(from: first))")
            let left = Int(try runner.space("ttl", "first", "soon").output.dropLast()) ?? 0
            #expect((3_500_000...3_600_000).contains(left))
            let check = try runner.start("space-dump", ["first", "--check"]).finish()
            #expect(check.ending == .exited(0), "\(check.output)\(check.errors)")
            // Its ids and change numbers go on.
            try runner.space("write", "first", #"["new"]"#)
            #expect(try runner.space("show", "first").output.contains("persistent"))
        }
    }

    @Test("What was claimed is there unclaimed, and what ended with a process is not")
    func claims() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", #"["job",1]"#)
            let owner = ["SHARED_SPACE_OWNER": "\(getpid())"]
            let claim = try runner.space("claim", "n", #"["job",1]"#, "--hold", environment: owner)
            #expect(claim.ending == .exited(0), "\(claim.errors)")
            try runner.space("set", "n", "mine", "1", "--session", environment: owner)
            let file = "\(runner.root)/.claims"
            try runner.space("backup", "n", "--to", file)
            try runner.space("replay", "m", "--from", file)
            #expect(try runner.space("take", "m", #"["job",1]"#).output == "[\"job\",1]\n")
            #expect(try runner.space("read", "n", #"["job",1]"#).ending == .exited(1))
            #expect(try runner.space("get", "n", "mine").output == "1\n")
            #expect(try runner.space("get", "m", "mine").ending == .exited(1))
        }
    }

    @Test("A moment has the tuples that have just been written to shared memory")
    func newest() throws {
        try withRoot { (runner) throws in
            let space = try Space(root: runner.root)
            let namespace = try space.namespace("n", options: NamespaceOptions(isPersistent: true))
            let file = "\(runner.root)/.order"
            for round in 1...20 {
                try namespace.set("last", Value.int(round))
                // These tuples are in the near end when the backup begins.
                for step in 1...round { try namespace.write("t", round * 100 + step) }
                try runner.space("backup", "n", "--to", file)
                try runner.space("replay", "m", "--from", file)
                let copy = try space.existingNamespace("m", owning: false)
                #expect(try copy.count() == round * (round + 1) / 2)
                #expect(try copy.get("last") == Value.int(round))
                try copy.leave()
                try space.delete("m")
            }
        }
    }

    @Test("A backup that was cut off anywhere has the moments before, and the next backup goes on from there")
    func torn() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            let file = "\(runner.root)/.torn"
            let copy = file + ".cut"
            try runner.space("backup", "n", "--to", file)
            let first = try bytes(ofFile: file)
            try runner.space("write", "n", #"["b",2]"#)
            try runner.space("backup", "n", "--to", file)
            let whole = try bytes(ofFile: file)
            let space = try Space(root: runner.root)
            let namespace = try space.existingNamespace("n", owning: false)
            // The file's first words tell that it is a backup; with fewer it could be any file.
            for size in [0] + Array(stride(from: 12, to: whole.count, by: 7)) {
                try write(Array(whole[..<size]), toFile: copy)
                let result = try namespace.backUp(to: copy)
                #expect(result.entries == (size < first.count ? 1 : 2), "cut at \(size)")
                #expect(try Space.contents(ofBackup: copy).moments.last?.sequence == 2)
            }
        }
    }

    @Test("No byte of a backup can be changed unnoticed")
    func flipped() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            let file = "\(runner.root)/.flipped"
            try runner.space("backup", "n", "--to", file)
            let whole = try bytes(ofFile: file)
            let space = try Space(root: runner.root)
            for place in whole.indices {
                var changed = whole
                changed[place] ^= 0x40
                try write(changed, toFile: file)
                #expect(throws: SpaceError.self, "byte \(place)") {
                    let (made, _) = try space.replay(file, as: "m", owner: .session)
                    try made.leave()
                }
            }
            #expect(try space.namespaceNames() == ["n"])
        }
    }

    @Test("Refused: another namespace's backup, a later life, what is no backup, a name that is taken")
    func refusals() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            try runner.space("write", "--persistent", "other", #"["a",1]"#)
            let file = "\(runner.root)/.refused"
            try runner.space("backup", "n", "--to", file)
            func refusal(_ words: String..., says text: String, status: Int32) throws {
                let result = try runner.start("space", words).finish()
                #expect(result.ending == .exited(status), "\(words) \(result.errors)")
                #expect(result.errors.contains(text), "\(result.errors)")
            }
            try refusal("backup", "other", "--to", file, says: "is a backup of \"n\"", status: 69)
            try refusal("replay", "--from", file, says: "there is a namespace of this name already", status: 69)
            try refusal("replay", "m", "--from", "/proc/self/status", says: "is no backup", status: 65)
            try refusal("replay", "m", "--from", file, "--to", "0", says: "begins at change 1", status: 64)
            try refusal("replay", "m", "--list", "--from", file, says: "--list makes no namespace", status: 64)
            let before = try bytes(ofFile: file)
            try runner.space("delete", "n")
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            try refusal("backup", "n", "--to", file, says: "an earlier life", status: 69)
            #expect(try bytes(ofFile: file) == before)

            // A part of another namespace's backup, in the place of a part of this one.
            try runner.space("backup", "other", "--to", file + "2")
            let other = try bytes(ofFile: file + "2")
            try write(before[..<536] + other[536...], toFile: file)
            try refusal("replay", "m", "--from", file, says: "don't decode", status: 74)
            try write(Array("Space".utf8), toFile: file)
            try refusal("backup", "n", "--to", file, says: "is no backup", status: 65)
            try write([], toFile: file)
            try refusal("replay", "--list", "--from", file, says: "no complete backup", status: 65)

            // What follows the last whole moment may be anything, as after a loss of power.
            try write(before + [UInt8](repeating: 0, count: 100), toFile: file)
            try refusal("replay", "m", "--from", file, says: "replay that with --to 1", status: 74)
            #expect(try runner.space("replay", "m", "--from", file, "--to", "1").ending == .exited(0))
        }
    }

    @Test(
        "A list of moments is checked: a damaged moment is told after those before it, and so are bytes that are none"
    )
    func listed() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            let file = "\(runner.root)/.listed"
            for round in 1...3 {
                try runner.space("set", "n", "k", "\(round)")
                try runner.space("backup", "n", "--to", file)
            }
            let whole = try bytes(ofFile: file)
            let lines = try runner.space("replay", "--list", "--from", file).lines
            #expect(lines.count == 3)
            guard case .int(let size)? = try Value(json: lines[2])["bytes"] else { throw TestFailure("no size") }
            let third = whole.count - size
            // The changed byte is in a row of the second moment, so only the checksum shows the change.
            var changed = whole
            changed[third - 1] ^= 1
            try write(changed, toFile: file)
            let damaged = try runner.start("space", ["replay", "--list", "--from", file]).finish()
            #expect(damaged.ending == .exited(74) && damaged.errors.contains("wrong checksum"), "\(damaged.errors)")
            #expect(damaged.output == lines[0] + "\n")
            try write(whole[..<(third + 100)], toFile: file)
            let cut = try runner.start("space", ["replay", "--list", "--from", file]).finish()
            #expect(cut.ending == .exited(0) && cut.errors.contains("has 100 bytes behind"), "\(cut.errors)")
            #expect(cut.output.split(separator: "\n").map(String.init) == Array(lines.prefix(2)))
        }
    }

    @Test("A replayed namespace is its maker's alone, unless a group is named")
    func group() throws {
        try withRoot { (runner) throws in
            let file = "\(runner.root)/.backup"
            try runner.space("write", "--persistent", "n", "--group", "\(getgid())", "[1]")
            try runner.space("backup", "n", "--to", file)
            try runner.space("replay", "own", "--from", file)
            try runner.space("replay", "shared", "--from", file, "--group", "\(getgid())")
            func mode(_ name: String) throws -> UInt32 {
                var info = stat()
                #expect(stat("\(runner.root)/\(name)", &info) == 0)
                return info.st_mode & 0o777
            }
            #expect(try mode("own") == 0o700)
            #expect(try mode("shared") == mode("n") && mode("n") == 0o770)
            let list = try runner.start("space", ["replay", "--list", "--from", file, "--group", "0"]).finish()
            #expect(list.ending == .exited(64), "\(list.errors)")
        }
    }

    @Test("A namespace that is full up to its limit comes back whole")
    func full() throws {
        try withRoot { (runner) throws in
            let space = try Space(root: runner.root)
            let options = NamespaceOptions(isPersistent: true, byteLimit: 16 << 20)
            let namespace = try space.namespace("n", options: options)
            let text = String(repeating: "x", count: 700)
            var count = 0
            #expect(throws: SpaceError.self) {
                while true {
                    try namespace.write("t", count, text)
                    count += 1
                }
            }
            #expect(count > 1000)
            let file = "\(runner.root)/.full"
            _ = try namespace.backUp(to: file)
            let (made, _) = try space.replay(file, as: "m", owner: .session)
            #expect(try made.count() == count)
        }
    }

    @Test(
        "On a full disk a backup fails, and the file has what it had",
        .enabled(if: SmallTmpfs.mayMount, "mounting a small file system is not permitted")
    )
    func fullDisk() throws {
        let root = try TemporaryRoot()
        let script = #"""
            root="$SHARED_SPACE_ROOT"; export SHARED_SPACE_ROOT=$(mktemp -d /dev/shm/backup-test.XXXXXX)
            trap "rm -r $SHARED_SPACE_ROOT" EXIT
            space write n "[1]"
            cat /dev/zero > "$root/filler" 2> /dev/null
            space backup n --to "$root/b"; echo $?; ls "$root"
            : > "$root/mine"; space backup n --to "$root/mine"; ls "$root"; rm "$root/mine" "$root/filler"
            space backup n --to "$root/b" || exit 8
            before=$(cksum < "$root/b")
            text=$(head -c 100000 /dev/zero | tr "\0" x)
            for i in 1 2 3 4 5 6 7 8; do space set --string n "k$i" "$text" || exit 7; done
            cat /dev/zero > "$root/filler" 2> /dev/null
            space backup n --to "$root/b"; echo $?
            test "$before" = "$(cksum < "$root/b")" && echo same
            rm "$root/filler"
            space backup n --to "$root/b" > /dev/null && space replay m --from "$root/b" > /dev/null && space count m "[1]"
            """#
        let result = try CommandRunner(root: root.path).shell(SmallTmpfs.script("16m", script))
        // A file that the backup has made goes again; an empty one that was there stays.
        let lines = result.output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("{") }
        let expected = ["74", "filler", "filler", "mine", "74", "same", "1"]
        #expect(lines == expected, "\(result.output)\(result.errors)")
    }

    @Test("The advice of an error is about the file that was named, and not about the root")
    func advice() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            let loop = "\(runner.root)/.loop"
            symlink(loop, loop)
            for (path, advice) in [
                (loop, "in a circle"), ("\(runner.root)/none/b", "folder must exist"), (runner.root, "not a folder"),
            ] {
                for words in [["backup", "n", "--to", path], ["replay", "m", "--from", path]] {
                    let result = try runner.start("space", words).finish()
                    #expect(result.status != 0)
                    #expect(result.errors.contains(advice) || words[0] == "replay" && path == runner.root)
                    #expect(!result.errors.contains("SHARED_SPACE_ROOT"), "\(result.errors)")
                }
            }
            for errno in [Errno.permissionDenied, .readOnlyFileSystem] {
                #expect(LogFile.failure(errno, on: "b").advice?.contains("name a file") == true)
            }
            try runner.space("delete", "n")
        }
    }
}
