import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Processes of their own read data files that are cut short: a signal would end them, and must not come.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct TruncatedFileTests {
    @Test(arguments: StorageMode.allCases)
    func aTruncatedDataFileIsDamage(_ mode: StorageMode) throws {
        // These cut the two meta pages, or what is behind them.
        var (lengths, count) = ([0, 1, 4095, 4096, 8191, 8192], 300)
        // In the other modes the last pages may be free ones, and then nothing is missing.
        if mode == .fast { (lengths, count) = (lengths + [12288, -4096, -1], 20_000) }
        for length in lengths {
            let root = try TemporaryRoot(for: mode)
            let maker = try Agent(root, "n", "mode=\(mode) persistent=1")
            try maker.run("write-loop 0 \(count)")
            let used = Int(try maker.run("bytes")) ?? 0
            #expect(used > 8192)
            try maker.exit()
            let length = length < 0 ? used + length : length
            try root.overwrite("n/data.mdb", [], length: length)
            let opener = try Agent()
            let answer = try opener.ask("open \(root.path) n")
            #expect(answer.hasPrefix("error damaged"), "cut to \(length): \(answer)")
            #expect(try root.dataFile().size == length, "the refused opener changed the file")
            #expect(root.entries(of: "n/sessions") == [])
            // A look does not delete the namespace; an explicit deletion does.
            #expect(try opener.run("names") == "n")
            try opener.exit()
            try root.space.delete("n")
            #expect(try root.space.namespaceNames() == [])
        }
    }

    /// The file of a `fast` namespace that was cut behind its last page, or copied with holes and without them, is whole: it
    /// is opened, has its blocks again, and is as long as before.
    @Test(arguments: [1, 20_000])
    func whatIsCutBehindThePagesIsNotMissed(_ count: Int) throws {
        let root = try TemporaryRoot(for: .fast)
        let maker = try Agent(root, "n", "persistent=1")
        try maker.run("write-loop 0 \(count)")
        // Moves what is in the ring.
        try maker.run("set cell 0")
        let used = Int(try maker.run("bytes")) ?? 0
        try maker.exit()
        let whole = try root.dataFile()
        #expect(whole.size <= whole.allocated + DiskReserve.margin)
        for length in [used + 64 << 10, whole.allocated, whole.size + 1 << 30] {
            try root.overwrite("n/data.mdb", [], length: length)
            let opener = try Agent(root, "n")
            #expect(try opener.run("count") == "\(count)")
            #expect(try root.dataFile().size <= whole.size, "cut to \(length)")
            try opener.run("set cell 1")
            let file = try root.dataFile()
            #expect(file.allocated > used + 64 << 12 && file.size <= file.allocated + DiskReserve.margin)
            #expect(try opener.run("verify") == "")
            try opener.exit()
        }
        for keepsHoles in [true, false] {
            let copy = try TemporaryRoot(for: .fast)
            try copy.copyTree("n", from: root, keepsHoles: keepsHoles)
            let opener = try Agent(copy, "n")
            #expect(try opener.run("count") == "\(count)")
            try opener.run("write [\"more\"]")
            #expect(try opener.run("verify") == "")
            try opener.exit()
        }
    }

    private static let calls = [
        "count", #"write ["new", 1]"#, #"take ["job", "?"]"#, "set cell 1", "get cell", #"claim ["job", "?"]"#,
        "write-loop 0 50",
    ]

    /// The control file is cut while processes use it and wait: `cp` over a namespace in use does that.
    @Test(arguments: StorageMode.allCases, [0, 100, 4096, 20_000])
    func aControlFileThatIsCutInUseIsDamage(_ mode: StorageMode, _ length: Int) throws {
        let root = try TemporaryRoot(for: mode)
        let user = try Agent(root, "n", "mode=\(mode) persistent=1")
        try user.run("write-loop 0 100")
        let waiter = try Agent(root, "n")
        try waiter.send(#"take-wait 600000 ["never"]"#)
        #expect(try waiter.line() == "waiting")
        try root.overwrite("n/control", [], length: length)
        for call in Self.calls {
            let answer = try user.ask(call)
            #expect(answer.hasPrefix("ok") || answer == "none" || answer.hasPrefix("error"), "\(call): \(answer)")
        }
        // A process that ticks looks at the file's size; one that does not goes on until it touches what is missing.
        #expect(try #require(try waiter.line()).hasPrefix("error damaged"))
        if length == 0 {
            for call in Self.calls { #expect(try user.ask(call).hasPrefix("error damaged"), "\(call)") }
        }
        let opener = try Agent()
        #expect(try opener.ask("open \(root.path) n").hasPrefix("error damaged"))
        for agent in [opener, user] { try agent.exit() }
        try waiter.kill()
        try root.space.delete("n")
    }

    /// The first call after the cut fails already: zeros look like a ring without tuples, and like marks that take nothing.
    @Test(arguments: ["count", "set cell 1"], [20, 900])
    func nothingWrongIsToldOfACutControlFile(_ call: String, _ count: Int) throws {
        for length in [20_480, 53_248, 73_728] {
            let root = try TemporaryRoot(for: .fast)
            let user = try Agent(root, "n", "mode=fast persistent=1")
            try user.run("write-loop 0 \(count)")
            // A commit takes over what is in the ring; the takes after it are marks.
            try user.run("set cell 0")
            for _ in 0..<9 { try user.run(#"take ["job", "?"]"#) }
            #expect(try user.run("count") == "\(count - 9)")
            try root.overwrite("n/control", [], length: length)
            let answer = try user.ask(call)
            #expect(answer.hasPrefix("error damaged"), "cut to \(length): \(answer)")
            try user.exit()
        }
    }

    /// LMDB takes the length of a lock file that others have open for the length of its table.
    @Test(arguments: StorageMode.allCases, [1, 10, 64, 191, 192, 255, 4096])
    func aLockFileThatIsCutInUseIsDamage(_ mode: StorageMode, _ length: Int) throws {
        let root = try TemporaryRoot(for: mode)
        let user = try Agent(root, "n", "mode=\(mode) persistent=1")
        try user.run("write-loop 0 100")
        try root.overwrite("n/lock.mdb", [], length: length)
        let opener = try Agent()
        for call in ["open \(root.path) n timeout=3000"] + Self.calls {
            let answer = try opener.ask(call)
            #expect(answer.hasPrefix("ok") || answer == "none" || answer.hasPrefix("error"), "\(call): \(answer)")
        }
        for call in Self.calls {
            let answer = try user.ask(call)
            #expect(answer.hasPrefix("ok") || answer == "none" || answer.hasPrefix("error"), "\(call): \(answer)")
        }
        for agent in [opener, user] { try agent.exit() }
        try root.space.delete("n")
    }
}
