import Glibc
import SharedSpace
import SpaceTestSupport

/// A small file system that fills up at any moment, by the namespace's own writes or by another program's, in each
/// mode: an error, never a signal; takes and claims go on working, and everything works once there is space.
///
/// Each round has a file system of its own, in a mount namespace that no other process sees; where mounting is not
/// permitted those scenes are skipped.
struct DiskPart {
    let options: Options

    func run() -> Report {
        let refusal = Self.becomePrivate()
        func on(
            _ mount: @escaping (Round, _ kibibytes: Int) throws -> Void,
            _ sizes: Range<Int>,
            _ play: @escaping (Round) throws -> Void
        ) -> (Round) throws -> Void {
            { round in
                if let refusal { throw Rounds.Skipped(reason: refusal) }
                try mount(round, round.random(sizes))
                try play(round)
            }
        }
        let inMemory = Self.mountInMemory
        let onBlocks = Self.mountOnBlocks
        return Rounds(part: .disk, options: options).report([
            .init("fill", on(inMemory, 12_000..<26_000, fill)), .init("fillExt4", on(onBlocks, 16_000..<30_000, fill)),
            .init("killed", on(inMemory, 12_000..<26_000, killed)),
            .init("killedExt4", on(onBlocks, 16_000..<30_000, killed)),
            .init("creating", on(inMemory, 8..<9000, creating)),
            .init("creatingExt4", on(onBlocks, 1000..<12_000, creating)), .init("fileSize", fileSize),
        ])
    }

    /// Two processes write until nothing is free, while a third fills the disk at a random moment.
    private func fill(_ round: Round) throws {
        let mode = round.one(of: StorageMode.allCases)
        // The byte limit is beyond the disk's size, so the disk is full first.
        let writers = [try round.player("mode=\(mode) limit=\(256 << 20)"), try round.player()]
        let other = try round.player()
        let filler = try round.newcomer()
        let file = "\(round.root.path)/.filler"
        try other.run("write [\"kept\", 1]")
        // Few and large tuples where each write is synchronised.
        let sizes = mode == .durable ? [4000, 9000, 30_000] : [100, 700, 4000, 9000, 30_000]
        for writer in writers { try writer.send("fill \(round.one(of: sizes)) 1000000") }
        usleep(UInt32(round.random(0..<30_000)))
        try filler.run("fill-file \(file)")
        var count = 0
        for writer in writers { count += try full(try writer.line() ?? "nothing more") }
        try round.expect(other, "count [\"fill\", \"?\", \"?\"]", "ok \(count)", "in \(mode)")
        try round.expect(other, "take [\"kept\", \"?int\"]", #"ok ["kept",1]"#)
        round.check(
            try other.ask("claim [\"fill\", 0, \"?\"]").hasPrefix("ok") || count == 0,
            "no claim on a full disk"
        )
        try other.run("release")
        // A newcomer takes, too.
        let late = try round.newcomer()
        let said = try late.ask("open \(round.root.path) n")
        round.check(said == "ok" || said.hasPrefix("error storageFull"), "opening on a full disk: \(said)")
        if round.coin() {
            try round.expect(other, "drain", "ok \(count)")
            count = 0
            try round.expect(writers[0], "turn-over 100 10", "ok 10")
        }
        try filler.run("remove-file \(file)")
        let more = try full(try writers[1].ask("fill 4000 1000000"))
        try round.expect(other, "count", "ok \(count + more)", "in \(mode)")
        try round.expect(other, "verify", "ok ")
        try round.expect(writers[0], "drain", "ok \(count + more)")
        try round.expect(writers[1], "turn-over 9000 10", "ok 10")
        try round.expect(writers[1], "verify", "ok ")
    }

    /// A writer is killed on the way to a full disk, and on it.
    private func killed(_ round: Round) throws {
        let mode = round.one(of: StorageMode.allCases)
        let other = try round.player("mode=\(mode) limit=\(256 << 20)")
        let point = round.one(of: [CrashPoint.gateTaken, .begun, .beforeCommit, .afterCommit])
        let filler = try round.newcomer()
        let victim = try round.player()
        if round.coin() { try filler.run("fill-file \(round.root.path)/.filler") }
        try victim.run("arm kill \(point) \(round.random(1..<400))")
        try victim.send("fill \(round.one(of: [700, 4000, 30_000])) 1000000")
        // Unless the disk was full before.
        if let line = try victim.line() {
            _ = try full(line)
        } else {
            round.check(try victim.ended() == .killed(by: SIGKILL), "a writer ended by itself on a full disk")
        }
        let count = Int(try other.run("count")) ?? 0
        try round.expect(other, "drain", "ok \(count)", "in \(mode)")
        try round.expect(other, "turn-over 1000 10", "ok 10")
        _ = try? filler.run("remove-file \(round.root.path)/.filler")
        _ = try full(try other.ask("fill 4000 1000000"))
        try round.expect(other, "verify", "ok ")
    }

    /// Namespaces are created where the disk may be full: the result is an error then, and nothing is left behind.
    private func creating(_ round: Round) throws {
        let creators = [try round.newcomer(), try round.newcomer()]
        let command = "open \(round.root.path) n mode=\(round.one(of: StorageMode.allCases))"
        try round.race((creators[0], command), (creators[1], command))
        for creator in creators {
            let said = try creator.line() ?? "nothing more"
            if said == "ok" {
                try creator.run("write [\"job\", 1]")
                try round.expect(creator, "verify", "ok ")
            } else {
                round.check(said.hasPrefix("error storageFull"), "creating on a full disk: \(said)")
            }
        }
    }

    /// setrlimit(2): a write beyond RLIMIT_FSIZE sends SIGXFSZ, which would end the process.
    private func fileSize(_ round: Round) throws {
        let mode = round.one(of: StorageMode.allCases)
        let keeper = try round.player("mode=\(mode) limit=\(64 << 20)")
        try keeper.run("write [\"kept\", 1]")
        let agent = try round.newcomer()
        let limit = round.random(17..<48) << 20
        try agent.run("limit fsize \(limit)")
        let said = try agent.ask("open \(round.root.path) n")
        round.check(said.hasPrefix("error limitReached"), "opened beyond RLIMIT_FSIZE: \(said)")
        let other = try agent.ask("open \(round.root.path) small mode=\(mode) limit=\(16 << 20)")
        if other == "ok" {
            let answer = try agent.ask("fill 4000 1000000")
            round.check(answer.contains(" error limitReached "), "full, under RLIMIT_FSIZE: \(answer)")
            try agent.run("drain")
            try round.expect(agent, "verify", "ok ")
        } else {
            round.check(mode == .fast && other.hasPrefix("error limitReached"), "small enough: \(other)")
        }
        try agent.exit()
        try round.expect(keeper, "take [\"kept\", \"?int\"]", #"ok ["kept",1]"#)
        try round.expect(keeper, "verify", "ok ")
    }

    /// How many tuples were written, in an answer `full <number> error …`.
    private func full(_ answer: String) throws -> Int {
        let words = answer.split(separator: " ")
        guard words.count > 3, words[0] == "full", let number = Int(words[1]), words[3] == "storageFull" else {
            throw TestFailure("the disk is not full: \(answer)")
        }
        return number
    }

    // MARK: Mounting

    /// Gives this process, and those that it starts, mounts of their own.
    ///
    /// Returns: Why not, where that is not permitted.
    private static func becomePrivate() -> String? {
        if let refusal = KernelCall.unshare(KernelCall.newMounts) { return "mounting is not permitted: \(refusal)" }
        // mount_namespaces(7): without MS_PRIVATE a mount would spread to the other mount namespaces.
        guard Glibc.mount(nil, "/", nil, UInt(MS_REC) | UInt(MS_PRIVATE), nil) == 0 else {
            return "mounting is not permitted: mount, errno \(errno)"
        }
        return nil
    }

    private static func mountInMemory(_ round: Round, kibibytes: Int) throws {
        let path = round.root.path
        guard Glibc.mount("tmpfs", path, "tmpfs", 0, "size=\(kibibytes)k,mode=0700") == 0 else {
            throw Rounds.Skipped(reason: "mounting is not permitted: mount, errno \(errno)")
        }
        unmountAtEnd(round)
    }

    /// Mounts an ext4 in a file, which goes with the mount: the loop device keeps it.
    private static func mountOnBlocks(_ round: Round, kibibytes: Int) throws {
        let script = """
            exec >/dev/null 2>&1
            PATH=$PATH:/usr/sbin:/sbin
            mkfs.ext4 -q -F -m 0 "$1.ext4" "$2k" && mount -o loop "$1.ext4" "$1" && chmod 700 "$1"
            status=$?
            rm -f "$1.ext4"
            exit $status
            """
        let words = ["sh", "-c", script, "sh", round.root.path, "\(kibibytes)"].map { (word: String) in strdup(word) }
        defer { words.forEach { free($0) } }
        let end = try Process.start {
            execv("/bin/sh", words + [nil])
            return 127
        }
        guard Process.wait(end) == .exited(0) else {
            throw Rounds.Skipped(reason: "an ext4 can't be made and mounted by a loop device")
        }
        unmountAtEnd(round)
    }

    private static func unmountAtEnd(_ round: Round) {
        let path = round.root.path
        // umount2(2), MNT_DETACH: works also while a file of it is open.
        round.atEnd = { umount2(path, 2) }
    }
}
