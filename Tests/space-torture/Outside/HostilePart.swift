import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SystemPackage

/// Another user, with and without a group in common, plants, links, locks, replaces and fills everything that it can
/// reach.
///
/// The victim's own files are not read, not changed and not followed. Each call and command of the victim's ends by
/// itself and not by a signal, with its result or with an error. The part does not judge what a member of the group can
/// do to the group's shared files: it may read, change and remove them, and cut a file short that others have mapped,
/// which is not played.
struct HostilePart {
    let options: Options

    func run() -> Report {
        Rounds(part: .hostile, options: options).report([
            .init("replaced", replaced), .init("replacedLive", replacedLive), .init("locked", locked),
            .init("filled", filled), .init("preparedRoot", preparedRoot), .init("stranger", stranger),
        ])
    }

    // MARK: Replacements for a file

    private enum Plant: CaseIterable {
        case link, dangling, linkToFolder, fifo, folder, hardLink, privateFile, sharedFile, sparseFile, nothing
    }

    /// As the attacker.
    private static func put(_ plant: Plant, at path: String, _ stage: HostileStage) {
        _ = rename(path, "\(path).away")
        _ = unlink(path)
        func make(_ mode: mode_t, length: off_t) {
            let file = open(path, O_RDWR | O_CREAT | O_EXCL, mode)
            guard file >= 0 else { return }
            fchmod(file, mode)
            ftruncate(file, length)
            close(file)
        }
        switch plant {
        case .link: symlink(stage.canary, path)
        case .dangling: symlink(stage.absent, path)
        case .linkToFolder: symlink(stage.privateFolder, path)
        case .fifo: if mkfifo(path, 0o660) == 0 { chmod(path, 0o660) }
        case .folder: if mkdir(path, 0o770) == 0 { chmod(path, 0o2770) }
        case .hardLink: link(stage.canary, path)
        case .privateFile: make(0o600, length: 4096)
        case .sharedFile: make(0o660, length: 0)
        case .sparseFile: make(0o660, length: 1 << 36)
        case .nothing: break
        }
    }

    private static let places = [
        "n/control", "n/data.mdb", "n/lock.mdb", "n/bell", "n/sessions", "n/sessions/1", "n/sessions/2", ".doorbells",
        ".nursery", ".graveyard", "n",
    ]

    private static let commands = [
        ["list"], ["show", "n"], ["count", "n"], ["write", "n", "[\"x\",1]"], ["read", "n", "\"?\""],
        ["take", "n", "\"?\"", "--wait", "0.1"], ["watch", "n", "--wait", "0"], ["set", "n", "k", "1"], ["own", "n"],
        ["claim", "n", "\"?\"", "--", "true"], ["space-dump", "n"], ["space-dump", "--check", "n"],
        ["write", "other", "[1]"], ["reap"],
    ]

    /// A namespace for the group, which the victim has made and left.
    private func share(_ stage: HostileStage) throws -> Agent {
        let victim = try stage.victim()
        try victim.run("open \(stage.shared) n persistent=1 group=\(HostileStage.group) limit=\(32 << 20)")
        try victim.run("write [\"kept\", 1]")
        return victim
    }

    // MARK: Scenes

    /// Files are replaced while no process uses the namespace; then the victim comes, with the library and with the
    /// commands.
    private func replaced(_ round: Round) throws {
        let stage = try HostileStage(round)
        let maker = try share(stage)
        try maker.run("leave")
        try maker.exit()
        var plants = (0..<round.random(1..<3)).map { _ in
            (round.one(of: Plant.allCases), round.one(of: Self.places))
        }
        // The case that the safeguard exists for is played every time.
        if options.leftOut == .ownFiles { plants = [(.link, "n/lock.mdb")] }
        try stage.attack {
            for (plant, place) in plants { Self.put(plant, at: "\(stage.shared)/\(place)", stage) }
        }
        let what = "\(plants)"
        let victim = try stage.victim()
        let opened = try victim.ask("open \(stage.shared) n creates=0 timeout=\(Round.patience)")
        if opened == "ok" {
            for command in [
                "write [\"job\", 1]", "take [\"job\", 1]", "count", "take-wait 50 [\"never\"]", "persist",
                "enrol \(victim.pid)", "turn-over 100 5", "leave",
            ] {
                var answer = try victim.ask(command)
                if answer == "waiting" { answer = try victim.line() ?? "ended" }
                round.check(
                    !answer.hasPrefix("ended") && !answer.hasPrefix("error other"),
                    "\(what): \(command): \(answer)"
                )
            }
        } else {
            round.check(opened.hasPrefix("error ") && !opened.hasPrefix("error other"), "\(what): open: \(opened)")
        }
        try stage.checkUntouched(what)
        for _ in 0..<5 { try stage.command(round.one(of: Self.commands), what) }
        try stage.command(["delete", "n"], what)
        try stage.checkUntouched(what)
    }

    /// The victim works while files are replaced, renamed and removed under it.
    private func replacedLive(_ round: Round) throws {
        let stage = try HostileStage(round)
        let victim = try share(stage)
        let other = try stage.victim()
        try other.run("open \(stage.shared) n timeout=\(Round.patience)")
        try other.send("take-wait 60000 [\"never\"]")
        try round.expect(other, says: "waiting")
        // Not the files that this process has mapped: cutting such a file short ends it.
        let places = [
            "n/bell", "n/sessions", "n/sessions/1", "n/sessions/2", ".doorbells", ".nursery", "n", "n/data.mdb",
        ]
        let plants = (0..<8).map { _ in (round.one(of: Plant.allCases), round.one(of: places)) }
        for (plant, place) in plants {
            try stage.attack { Self.put(plant, at: "\(stage.shared)/\(place)", stage) }
            for command in ["write [\"job\", 1]", "take [\"job\", 1]", "count"] {
                let answer = try victim.ask(command)
                round.check(
                    answer.hasPrefix("ok") || answer.hasPrefix("error ") || answer == "none",
                    "\(plant) at \(place): \(command): \(answer)"
                )
            }
            try stage.command(round.one(of: Self.commands), "\(plant) at \(place), while it is in use")
        }
        try victim.kill()
        try other.kill()
        try stage.command(["delete", "n"], "\(plants)")
        try stage.checkUntouched("\(plants), while it is in use")
    }

    /// The attacker holds an exclusive lock on every file that it may write.
    private func locked(_ round: Round) throws {
        let stage = try HostileStage(round)
        let maker = try share(stage)
        let isLive = round.coin()
        if !isLive {
            try maker.run("leave")
            try maker.exit()
        }
        let shared = stage.shared
        let ready = "\(stage.own)/ready"
        let locker = try Process.startWorker {
            guard HostileStage.becomeAttacker() else { throw TestFailure("setuid: errno \(errno)") }
            var held: [CInt] = []
            for folder in ["", "/n", "/n/sessions"] {
                let names = try OwnedDescriptor.open(shared + folder, flags: O_RDONLY | O_DIRECTORY)
                for name in try Directory.list(names.raw) {
                    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
                    guard
                        let file = try? OwnedDescriptor.openat(directory: names.raw, name, flags: flags)
                    else { continue }
                    _ = try? FileLock.tryExclusive(file.raw)
                    held.append(file.release())
                }
            }
            _ = try OwnedDescriptor.open(ready, flags: O_RDWR | O_CREAT, mode: 0o600)
            while true { pause() }
        }
        defer { Process.end(locker) }
        round.check(try eventually { access(ready, F_OK) == 0 || Process.hasEnded(locker) }, "nothing is locked")
        let victim = try stage.victim()
        let opened = try victim.ask("open \(shared) n creates=0 timeout=\(Round.patience)")
        round.check(opened == "ok" || opened.hasPrefix("error "), "locked: open: \(opened)")
        for _ in 0..<4 {
            try stage.command(round.one(of: Self.commands) + ["--timeout", "200ms"], "all is locked")
        }
        if isLive { round.check(try maker.ask("count").hasPrefix("ok "), "the living are locked out") }
        Process.end(locker)
        for agent in [victim] + (isLive ? [maker] : []) { try agent.kill() }
        round.check(try stage.command(["delete", "n"], "unlocked").ending == .exited(0), "it can't be deleted")
        try stage.checkUntouched("all was locked")
    }

    /// The attacker fills the folders with all kinds of entries.
    private func filled(_ round: Round) throws {
        let stage = try HostileStage(round)
        let maker = try share(stage)
        let count = round.random(20..<200)
        let folder = round.one(of: ["", "/.nursery", "/.graveyard", "/n", "/n/sessions"])
        try stage.attack {
            for number in 0..<count {
                Self.put(
                    Plant.allCases[number % Plant.allCases.count],
                    at: "\(stage.shared)\(folder)/\(number)",
                    stage
                )
            }
            var deep = "\(stage.shared)\(folder)/deep"
            for _ in 0..<80 where mkdir(deep, 0o770) == 0 { deep += "/d" }
        }
        // Deeper than a deletion goes: in the end the chain is cut in two, wherever it was moved to, and root removes
        // both halves.
        let half = "\(stage.shared)\(folder)/deep" + String(repeating: "/d", count: 40)
        let middle = open(half, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer {
            renameat(middle, "d", AT_FDCWD, "\(round.root.path)/.deep")
            close(middle)
        }
        try round.expect(maker, "count", "ok 1", "in filled folders")
        for _ in 0..<4 { try stage.command(round.one(of: Self.commands), "\(folder) is filled") }
        try maker.run("write [\"x\", 2]")
        try maker.kill()
        try stage.command(["delete", "n"], "\(folder) is filled")
        try stage.checkUntouched("\(folder) was filled")
    }

    /// The victim's default root, made by the attacker before the victim's first use: in a /dev/shm of their own.
    private func preparedRoot(_ round: Round) throws {
        // The script's output says where this can't be played.
        _ = try HostileStage(round)
        let root = "/dev/shm/shared-space-\(HostileStage.victim)"
        let (folder, hasGroup) = ("mkdir \(root)", round.coin())
        let prepared = round.one(of: [
            "\(folder); chmod 2770 \(root)", "\(folder); chmod 777 \(root)", "\(folder); chmod 755 \(root)",
            "mkdir -m 777 /dev/shm/evil; ln -s evil \(root)", "mkfifo -m 666 \(root)", "touch \(root)",
            "\(folder); chgrp \(HostileStage.group) \(root); chmod 2770 \(root); "
                + "space write jobs --root \(root) --persistent '[\"fed\"]'; chmod -R g+rwX \(root)",
        ])
        let attacker = HostileStage.words(HostileStage.attacker, inGroup: hasGroup).joined(separator: " ")
        let victim = HostileStage.words(HostileStage.victim).joined(separator: " ")
        let script = """
            mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit
            setpriv \(attacker) sh -c "$PREPARE"
            export SHARED_SPACE_OWNER=$$
            for words in 'write jobs ["own"]' 'take jobs "?"' 'list' 'count jobs' 'set jobs k 1' 'reap' 'watch jobs --wait 0'
            do setpriv \(victim) space $words; echo $?; done
            grep -r own /dev/shm
            """
        let result = try CommandRunner(root: "").start(
            "/usr/bin/unshare",
            ["-m", "/bin/sh", "-c", script],
            environment: ["PREPARE": prepared]
        ).finish()
        for tool in ["unshare: ", "mount: ", "setpriv: "] where result.errors.contains(tool) {
            throw Rounds.Skipped(reason: String(result.errors.suffix(200)))
        }
        round.check(
            result.output == String(repeating: "77\n", count: 7),
            "\(prepared), in the group: \(hasGroup): \(result.output)\(result.errors.suffix(400))"
        )
    }

    /// The attacker is not in the group: it reaches nothing of the victim's namespaces.
    private func stranger(_ round: Round) throws {
        let stage = try HostileStage(round)
        let maker = try share(stage)
        let mine = try stage.victim()
        guard mkdir("\(round.root.path)/.root", 0o700) == 0,
            chown("\(round.root.path)/.root", HostileStage.victim, HostileStage.victim) == 0
        else { throw TestFailure("mkdir: errno \(errno)") }
        try mine.run("open \(round.root.path)/.root n")
        try mine.run("write [\"own\"]")
        for root in [stage.shared, "\(round.root.path)/.root"] {
            for words in [["list"], ["read", "n", "\"?\""], ["write", "n", "[\"fed\"]"], ["delete", "n"], ["reap"]] {
                let result = try CommandRunner(root: root).start(
                    "/usr/bin/setpriv",
                    HostileStage.words(HostileStage.attacker, inGroup: false) + [CommandRunner.path("space")] + words,
                    environment: ["SHARED_SPACE_OWNER": "\(getpid())"]
                ).finish()
                if result.errors.contains("setpriv: ") {
                    throw Rounds.Skipped(reason: String(result.errors.suffix(200)))
                }
                round.check(
                    result.ending == .exited(77) && result.output.isEmpty,
                    "a stranger's \(words): \(result.ending) \(result.output)\(result.errors)"
                )
            }
        }
        try round.expect(mine, "count", "ok 1")
        try round.expect(maker, "count", "ok 1")
        try maker.run("unpersist")
        try stage.checkUntouched("a stranger")
    }
}
