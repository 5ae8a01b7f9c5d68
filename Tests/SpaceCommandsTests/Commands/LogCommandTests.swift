import Glibc
import SharedSpace
import SpaceInspection
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Logs of commits, and the standbys that follow them.
@Suite("Logs and standbys", .blocking, .timeLimit(.minutes(5)))
struct LogCommandTests {
    private func refuse(
        _ runner: CommandRunner,
        _ words: String...,
        says texts: String...,
        status: Int32 = 69
    ) throws {
        try refuse(runner, words, says: texts, status: status)
    }

    private func refuse(_ runner: CommandRunner, _ words: [String], says texts: [String], status: Int32) throws {
        let result = try runner.start("space", words).finish()
        #expect(result.ending == .exited(status), "\(words) \(result.errors)")
        for text in texts { #expect(result.errors.contains(text), "\(words) \(result.errors)") }
    }

    /// Makes a namespace with a log, and returns the log's path.
    private func log(_ runner: CommandRunner, _ name: String = "n") throws -> String {
        let log = "\(runner.root)/.log-\(name)"
        try runner.space("write", "--persistent", name, #"["a",1]"#)
        try runner.space("backup", name, "--to", log, "--each-commit")
        return log
    }

    @Test("Each commit is a moment of the log, and a namespace is made of any of them")
    func moments() throws {
        try withRoot { (runner) throws in
            let log = try log(runner)
            let path = try Value(json: try runner.space("show", "n", "--json").output)["log"]?["path"]
            #expect(path == .string(log))
            for number in 2...5 { try runner.space("set", "n", "k", "\(number)") }
            #expect(try runner.space("replay", "--list", "--from", log).output.split(separator: "\n").count == 5)
            for number in 2...5 {
                try runner.space("replay", "m\(number)", "--from", log, "--to", "\(number)", "--persistent")
                #expect(try runner.space("get", "m\(number)", "k").output == "\(number)\n")
                #expect(try runner.start("space-dump", ["--check", "m\(number)"]).finish().ending == .exited(0))
            }
            try runner.space("backup", "n", "--no-log")
            try runner.space("set", "n", "k", "6")
            #expect(try Space.contents(ofBackup: log).moments.last?.sequence == 5)
            // It goes on in the same file, with what was not logged.
            try runner.space("backup", "n", "--to", log, "--each-commit")
            try runner.space("set", "n", "k", "7")
            try runner.space("replay", "again", "--from", log, "--persistent")
            #expect(try runner.space("get", "again", "k").output == "7\n")
            #expect(try runner.start("space-dump", ["--check", "n"]).finish().ending == .exited(0))
        }
    }

    @Test("A standby has each commit, wakes who waits for it, and is written by nothing else until it is promoted")
    func standby() throws {
        try withRoot { (runner) throws in
            let other = try TemporaryRoot()
            let (log, elsewhere) = ("\(other.path)/.log", ["--root", other.path])
            try runner.space("write", "--persistent", "n", #"["job",1]"#, #"["job",2]"#)
            let owner = ["SHARED_SPACE_OWNER": "\(getpid())"]
            try runner.space("claim", "n", #"["job",1]"#, "--hold", environment: owner)
            try runner.space("backup", "n", "--to", log, "--each-commit")
            let follower = try runner.start("space", ["replay", "n", "--from", log, "--follow"] + elsewhere)
            #expect(try follower.readLine()?.hasPrefix(#"{"entry":"#) == true)
            let standby = try other.space.existingNamespace("n", owning: false)
            let reader = try runner.start("space", ["read", "--wait", "60s", "n", #"["late"]"#] + elsewhere)
            #expect(try eventually { try standby.status().waiters.contains { !$0.template.isEmpty } })
            try runner.space("write", "n", #"["late"]"#)
            #expect(try reader.finish().output == "[\"late\"]\n")
            // The claim is its holder's, elsewhere.
            #expect(try standby.status().claims.map(\.held.tuple) == [["job", 1]])
            #expect(try standby.status().log?.isFollowed == true)
            for words in [
                ["write", "n", "[1]"], ["take", "n", #"["late"]"#], ["lock", "n", "a", "--", "true"],
                ["set", "n", "k", "1"], ["backup", "n", "--no-log"],
                ["backup", "n", "--to", log + "2", "--each-commit"],
            ] {
                let result = try runner.start("space", words.prefix(1) + elsewhere + words.dropFirst()).finish()
                #expect(result.ending == .exited(69) && result.errors.contains("is a standby"), "\(result.errors)")
            }

            // A follower that is killed goes on where it was.
            follower.signal(SIGKILL)
            _ = try follower.finish()
            try runner.space("set", "n", "k", "5")
            let second = try runner.start("space", ["replay", "n", "--from", log, "--follow"] + elsewhere)
            #expect(try second.readLine()?.hasPrefix(#"{"entry":"#) == true)
            // Two that follow don't hinder each other.
            let third = try runner.start("space", ["replay", "n", "--from", log, "--follow"] + elsewhere)
            #expect(try third.readLine()?.hasPrefix(#"{"entry":"#) == true)
            for number in 1...20 { try runner.space("set", "n", "k", "\(number)") }
            #expect(try eventually { try standby.get("k") == Value.int(20) })
            third.signal(SIGTERM)
            #expect(try third.finish().ending == .signalled(SIGTERM))
            try runner.space("set", "n", "k", "5")
            #expect(try eventually { try standby.get("k") == Value.int(5) })
            #expect(try standby.get("k") == Value.int(5))
            // A copy that was put back is the log: the writers go on in it, and the follower with them.
            let copy = "\(other.path)/.copy"
            try write(try bytes(ofFile: log), toFile: copy)
            #expect(rename(copy, log) == 0)
            try runner.space("set", "n", "k", "6")
            #expect(try eventually { try standby.get("k") == Value.int(6) })
            // What goes less far is not.
            try write(try bytes(ofFile: log).prefix(2000), toFile: copy)
            #expect(rename(log, log + ".kept") == 0)
            #expect(rename(copy, log) == 0)
            let ended = try second.finish()
            #expect(ended.ending == .exited(69) && ended.errors.contains("no longer the file"), "\(ended.errors)")
            try refuse(runner, "set", "n", "k", "7", says: "is shorter than it was")
            #expect(rename(log + ".kept", log) == 0)

            try runner.space("replay", "n", "--promote", "--root", other.path)
            #expect(try standby.status().log == nil)
            #expect(try standby.count(matching: ["job", 1]) == 1)
            try standby.write("own")
            #expect(try standby.verify() == [])
            try refuse(runner, "replay", "n", "--promote", "--root", other.path, says: "it is no standby")
            try refuse(runner, "replay", "n", "--from", log, "--follow", "--root", other.path, says: "it is no standby")
            try standby.leave()
        }
    }

    @Test("Of several that begin to follow a log at once, each follows it")
    func together() throws {
        try withRoot { (runner) throws in
            let log = try log(runner)
            // The more rows there are, the longer is the time in which a second one finds no standby.
            try runner.space("write", "n", "-", input: (0..<20_000).map { "[\($0)]\n" }.joined())
            let other = try TemporaryRoot()
            let words = ["replay", "n", "--from", log, "--follow", "--root", other.path]
            let followers = try (0..<4).map { _ in try runner.start("space", words) }
            for follower in followers { #expect(try follower.readLine()?.hasPrefix(#"{"entry":"#) == true) }
            for follower in followers {
                follower.signal(SIGTERM)
                let result = try follower.finish()
                #expect(result.ending == .signalled(SIGTERM) && result.errors == "", "\(result.errors)")
            }
        }
    }

    @Test("A standby follows its log at another place, and no other file")
    func moved() throws {
        try withRoot { (runner) throws in
            let (log, another) = (try log(runner), try log(runner, "another"))
            let (moved, text) = ("\(runner.root)/.moved", "\(runner.root)/.text")
            let other = try TemporaryRoot()
            func words(_ path: String) -> [String] {
                ["replay", "n", "--from", path, "--root", other.path, "--follow"]
            }
            func follow(_ path: String) throws {
                let follower = try runner.start("space", words(path))
                #expect(try follower.readLine()?.hasPrefix(#"{"entry":"#) == true)
                follower.signal(SIGTERM)
                _ = try follower.finish()
            }
            func refuse(_ path: String, _ status: Int32, _ why: String) throws {
                try self.refuse(runner, words(path), says: [why], status: status)
            }
            try follow(log)
            try write("no log\n".utf8, toFile: text)
            try refuse(another, 69, "is not the log that it follows")
            try refuse(text, 65, "is no backup")
            try refuse("\(runner.root)/.missing", 74, "No such file")
            #expect(rename(log, moved) == 0)
            try follow(moved)
            let shown = try runner.space("show", "n", "--json", "--root", other.path).output
            #expect(try Value(json: shown)["log"]?["path"] == .string(moved))
            // The writers go on where it was.
            #expect(rename(moved, log) == 0)
            try runner.space("set", "n", "k", "1")
            try follow(log)
            #expect(try other.space.existingNamespace("n", owning: false).get("k") == Value.int(1))
        }
    }

    @Test("A log that is gone can be ended, and another begun, as its error says")
    func gone() throws {
        try withRoot { (runner) throws in
            let log = try log(runner)
            #expect(unlink(log) == 0)
            try refuse(runner, "set", "n", "k", "1", says: "end the log with space backup n --no-log")
            try runner.space("backup", "n", "--no-log")
            try runner.space("backup", "n", "--to", log, "--each-commit")
            try runner.space("set", "n", "k", "1")
        }
    }

    @Test("A backup is no log to follow, and those who follow a log are told when it ends")
    func ended() throws {
        try withRoot { (runner) throws in
            let log = "\(runner.root)/.log"
            let other = try TemporaryRoot()
            let follow = ["replay", "n", "--from", log, "--root", other.path, "--follow"]
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            try runner.space("backup", "n", "--to", log)
            let refused = try runner.start("space", follow).finish()
            #expect(
                refused.ending == .exited(64) && refused.errors.contains("no commits are logged"),
                "\(refused.errors)"
            )
            #expect(try other.space.namespaceNames() == [])

            // No row has changed since the backup; the file still records that it is a log now.
            try runner.space("backup", "n", "--to", log, "--each-commit")
            let follower = try runner.start("space", follow)
            #expect(try follower.readLine()?.hasPrefix(#"{"entry":"#) == true)
            try runner.space("set", "n", "k", "1")
            try runner.space("backup", "n", "--no-log")
            let ended = try follower.finish()
            #expect(ended.ending == .exited(69) && ended.errors.contains("was ended"), "\(ended.errors)")
            let standby = try other.space.existingNamespace("n", owning: false)
            #expect(try standby.get("k") == Value.int(1))
            #expect(try runner.start("space", follow).finish().errors.contains("was ended"))

            // The log begins again in the same file, and the standby follows it.
            try runner.space("set", "n", "k", "2")
            try runner.space("backup", "n", "--to", log, "--each-commit")
            let second = try runner.start("space", follow)
            #expect(try second.readLine()?.hasPrefix(#"{"entry":"#) == true)
            #expect(try standby.get("k") == Value.int(2))
            try runner.space("set", "n", "k", "3")
            #expect(try eventually { try standby.get("k") == Value.int(3) })
            second.signal(SIGTERM)
            _ = try second.finish()
            try runner.space("backup", "n", "--no-log")
            try runner.space("replay", "n", "--root", other.path, "--promote")
            #expect(try standby.get("k") == Value.int(3))
            #expect(try standby.verify() == [])
            try standby.leave()
            let again = try runner.start("space", ["replay", "m", "--from", log, "--follow"]).finish()
            #expect(again.ending == .exited(64) && again.errors.contains("a log that was ended"), "\(again.errors)")
        }
    }

    @Test("While the log can't be written, no change counts; --no-log ends it all the same")
    func unreachable() throws {
        try withRoot { (runner) throws in
            let log = try log(runner)
            #expect(rename(log, log + ".away") == 0)
            try refuse(runner, "write", "n", "[1]", says: ".log", "no commit may be missing", "--no-log")
            try write([1, 2, 3], toFile: log)
            try refuse(runner, "write", "n", "[1]", says: ".log", "was replaced by a file that is no log")
            #expect(unlink(log) == 0)
            try write([], toFile: log)
            try refuse(
                runner,
                "write",
                "n",
                "[1]",
                says: ".log",
                "was replaced by a file that has no beginning of a log"
            )
            #expect(unlink(log) == 0)
            #expect(mkdir(log, 0o700) == 0)
            try refuse(runner, "write", "n", "[1]", says: ".log", "was replaced by what is no regular file")
            #expect(rmdir(log) == 0)
            try runner.space("write", "--persistent", "other", "[1]")
            try runner.space("backup", "other", "--to", log, "--each-commit")
            try refuse(
                runner,
                "write",
                "n",
                "[1]",
                says: ".log",
                "was replaced by the log of another namespace, \"other\""
            )
            try runner.space("delete", "other")
            #expect(unlink(log) == 0)
            #expect(try runner.space("count", "n").output == "1\n")
            #expect(rename(log + ".away", log) == 0)
            try runner.space("write", "n", "[1]")
            try runner.space("write", "n", "[2]")
            try write(Array(try bytes(ofFile: log).dropLast(9)), toFile: log)
            try refuse(runner, "write", "n", "[3]", says: "is shorter than it was")
            try runner.space("backup", "n", "--no-log")
            try runner.space("backup", "n", "--to", log + "2", "--each-commit")
            #expect(unlink(log + "2") == 0)
            try runner.space("backup", "n", "--no-log")
            try runner.space("write", "n", "[3]")
            #expect(try runner.space("count", "n").output == "4\n")
            try refuse(runner, "backup", "n", "--no-log", says: "are not logged", status: 64)
        }
    }

    @Test(
        "On a full disk no change counts, and the log has what it had",
        .enabled(if: SmallTmpfs.mayMount, "mounting a small file system is not permitted")
    )
    func fullDisk() throws {
        let root = try TemporaryRoot()
        let script = #"""
            disk="$SHARED_SPACE_ROOT"; export SHARED_SPACE_ROOT=$(mktemp -d /dev/shm/log-test.XXXXXX)
            trap "rm -r $SHARED_SPACE_ROOT" EXIT
            space write --persistent n "[1]"; space backup n --to "$disk/log" --each-commit > /dev/null || exit 8
            cat /dev/zero > "$disk/filler" 2> /dev/null
            before=$(cksum < "$disk/log")
            text=$(head -c 100000 /dev/zero | tr "\0" x)
            space set --string n k "$text" 2> /dev/null; echo $?
            test "$before" = "$(cksum < "$disk/log")" && echo same
            space get n k; echo $?
            rm "$disk/filler"
            space set --string n k "$text" && space replay m --from "$disk/log" > /dev/null && space get -r m k | wc -c
            """#
        let result = try CommandRunner(root: root.path).shell(SmallTmpfs.script("4m", script))
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines == ["74", "same", "1", "100001"], "\(result.output)\(result.errors)")
    }

    @Test("What can't be together is refused")
    func refusals() throws {
        try withRoot { (runner) throws in
            let log = "\(runner.root)/.log"
            try runner.space("write", "--persistent", "n", #"["a",1]"#)
            try runner.space("write", "--persistent", "m", #"["a",1]"#)
            try refuse(runner, "backup", "n", says: "--to FILE", status: 64)
            try refuse(runner, "backup", "n", "--no-log", "--to", log, says: "no other option", status: 64)
            try refuse(runner, "replay", "n", says: "--from FILE", status: 64)
            try refuse(runner, "replay", "n", "--promote", "--from", log, says: "no other option", status: 64)
            try refuse(runner, "replay", "n", "--follow", "--from", log, "--to", "1", says: "takes no --to", status: 64)
            try refuse(runner, "replay", "n", "--promote", says: "it is no standby")
            try refuse(runner, "backup", "n", "--to", "\(runner.root)/n/b", says: "own folder", status: 64)
            try runner.space("backup", "n", "--to", log, "--each-commit")
            try refuse(runner, "backup", "n", "--to", log + "2", "--each-commit", says: "its log is", "--no-log")
            try refuse(runner, "backup", "n", "--to", log, says: "is its log", status: 64)
            try refuse(runner, "backup", "m", "--to", log, says: "is a backup of \"n\"")
            // Another namespace's attempt is no hindrance.
            try runner.space("write", "n", "[2]")
        }
    }
}
