import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SystemPackage

/// Where the hostile part plays: a victim's private folder with files that no other user may reach, a root that victim and
/// attacker share through a group, and a folder of the attacker's own.
///
/// Both are users that no program of the machine runs as.
struct HostileStage {
    static let victim: uid_t = 61_001
    static let attacker: uid_t = 61_002
    /// The group of both.
    static let group: gid_t = 61_003

    private static let secret = "the victim's own"

    let round: Round
    /// Outside the names that rounds check when they end.
    let shared: String
    let own: String
    private let private_: String
    private let before: [String: FileFacts]

    /// The state of a file that no other user may change: of a file also when it was last read.
    private struct FileFacts: Equatable {
        let owner, mode: UInt32
        let size: Int
        let links: UInt
        let read, changed: timespec
        let bytes: [UInt8]

        static func == (a: FileFacts, b: FileFacts) -> Bool {
            a.owner == b.owner && a.mode == b.mode && a.size == b.size && a.links == b.links && a.bytes == b.bytes
                && (a.read.tv_sec, a.read.tv_nsec) == (b.read.tv_sec, b.read.tv_nsec)
                && (a.changed.tv_sec, a.changed.tv_nsec) == (b.changed.tv_sec, b.changed.tv_nsec)
        }
    }

    init(_ round: Round) throws {
        guard geteuid() == 0 else { throw Rounds.Skipped(reason: "only root can become two other users") }
        var folder = stat()
        guard stat(round.options.folder, &folder) == 0, folder.st_mode & 0o001 != 0 else {
            throw Rounds.Skipped(reason: "other users can't pass through \(round.options.folder)")
        }
        self.round = round
        let path = round.root.path
        (shared, own, private_) = ("\(path)/.shared", "\(path)/.attacker", "\(path)/.victim")
        // Other users may only pass through this folder.
        chmod(path, 0o711)
        for (folder, owner, group, mode) in [
            (shared, 0, Self.group, 0o2770 as mode_t), (own, Self.attacker, Self.attacker, 0o755),
            (private_, Self.victim, Self.victim, 0o700), ("\(private_)/folder", Self.victim, Self.victim, 0o700),
        ] {
            guard mkdir(folder, 0o700) == 0, chown(folder, owner, group) == 0, chmod(folder, mode) == 0 else {
                throw TestFailure("\(folder): errno \(errno)")
            }
        }
        for file in ["file", "folder/file"] {
            let path = "\(private_)/\(file)"
            try round.root.overwrite(".victim/\(file)", Array(Self.secret.utf8))
            // Old enough for a read to be noted (mount(8), relatime: at most once a day).
            let old = [
                timespec(tv_sec: time(nil) - 200_000, tv_nsec: 0), timespec(tv_sec: time(nil) - 300_000, tv_nsec: 0),
            ]
            guard chown(path, Self.victim, Self.victim) == 0, chmod(path, 0o600) == 0,
                utimensat(AT_FDCWD, path, old, 0) == 0
            else { throw TestFailure("\(path): errno \(errno)") }
        }
        before = try Self.facts(private_)
    }

    /// The victim's file, and a name in its folder under which nothing lies.
    var canary: String { "\(private_)/file" }
    var absent: String { "\(private_)/made" }
    var privateFolder: String { "\(private_)/folder" }

    /// Root looks at the files, with a flag that leaves their times as they are.
    private static func facts(_ folder: String) throws -> [String: FileFacts] {
        var all: [String: FileFacts] = [:]
        for inner in ["", "/folder"] {
            let descriptor = try OwnedDescriptor.open(folder + inner, flags: O_RDONLY | O_DIRECTORY)
            for name in try Directory.list(descriptor.raw) {
                var status = stat()
                guard fstatat(descriptor.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
                let isFile = status.st_mode & S_IFMT == S_IFREG
                var bytes: [UInt8] = []
                if isFile {
                    let file = try OwnedDescriptor.openat(
                        directory: descriptor.raw,
                        name,
                        flags: O_RDONLY | noAccessTime
                    )
                    bytes = try FileBytes.readPrefix(file.raw, count: 4096)
                }
                all["\(inner)/\(name)"] = FileFacts(
                    owner: status.st_uid,
                    mode: status.st_mode,
                    size: isFile ? Int(status.st_size) : 0,
                    links: status.st_nlink,
                    // A folder's access time changes with every look into it.
                    read: isFile ? status.st_atim : timespec(),
                    changed: isFile ? status.st_mtim : timespec(),
                    bytes: bytes
                )
            }
        }
        return all
    }

    /// open(2), O_NOATIME, which Swift's Glibc hides.
    private static var noAccessTime: CInt { 0o1000000 }

    func checkUntouched(_ what: String) throws {
        let after = try Self.facts(private_)
        round.check(
            after == before,
            "\(what): the victim's files were touched: \(after.keys.sorted()) \(after["/file"]?.size ?? -1)"
        )
    }

    // MARK: Acting as victim or attacker

    /// Runs `body` as the attacker, in a process of its own: a forbidden call fails there without further effect.
    func attack(_ body: () -> Void) throws {
        let child = try Process.start {
            guard Self.becomeAttacker() else { return 1 }
            body()
            return 0
        }
        guard Process.wait(child) == .exited(0) else { throw TestFailure("the attacker can't be played") }
    }

    static func becomeAttacker() -> Bool {
        setgroups(1, [group]) == 0 && setgid(attacker) == 0 && setuid(attacker) == 0
    }

    /// Starts an agent that runs as the victim.
    func victim() throws -> Agent {
        let agent = try round.newcomer()
        let answer = try agent.ask("become \(Self.victim) \(Self.victim) \(Self.group)")
        guard answer == "ok" else {
            throw Rounds.Skipped(reason: "the programs are not to be had by other users: \(answer)")
        }
        // The new program does not know the handshake yet, so it is told again.
        if let safeguard = round.options.leftOut { try agent.run("leave-out \(safeguard)") }
        return agent
    }

    /// The words that make a command the victim's, or the attacker's.
    static func words(_ user: uid_t, inGroup: Bool = true) -> [String] {
        ["--reuid", "\(user)", "--regid", "\(user)"] + (inGroup ? ["--groups", "\(group)"] : ["--clear-groups"])
    }

    /// Runs a command as the victim.
    ///
    /// It may be refused, but by a status and a sentence; and it prints nothing of the victim's own files.
    @discardableResult
    func command(_ words: [String], root: String? = nil, _ what: @autoclosure () -> String) throws -> CommandResult {
        let runner = CommandRunner(root: root ?? shared)
        let program = words[0].hasPrefix("space") ? words[0] : "space"
        let rest = words[0] == program ? Array(words.dropFirst()) : words
        let result = try runner.start(
            "/usr/bin/setpriv",
            Self.words(Self.victim) + [CommandRunner.path(program)] + rest,
            environment: ["SHARED_SPACE_OWNER": "\(getpid())"]
        ).finish()
        if result.errors.contains("setpriv: ") { throw Rounds.Skipped(reason: String(result.errors.suffix(200))) }
        let isClear: Bool
        switch result.ending {
        case .exited(0), .exited(1): isClear = true
        case .exited(let status):
            isClear = (64...77).contains(status) && status != 70 && result.errors.contains("space")
        case .signalled: isClear = false
        }
        round.check(isClear, "\(what()): \(words) ended with \(result.ending): \(result.errors.suffix(300))")
        round.check(
            !result.output.contains(Self.secret) && !result.errors.contains(Self.secret),
            "\(what()): \(words) tells what is the victim's own"
        )
        return result
    }
}
