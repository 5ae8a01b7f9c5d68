import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// LMDB's lock file is removed or replaced while processes use the namespace: two files would be two tables of readers
/// and two counts of commits.
@Suite(.blocking, .timeLimit(.minutes(5)))
struct LockFileTests {
    let root: TemporaryRoot
    let runner: CommandRunner

    init() throws {
        root = try TemporaryRoot()
        runner = CommandRunner(root: root.path)
    }

    @Test(arguments: StorageMode.allCases, [false, true])
    func withoutTheLockFileOfTheOthersNobodyComesIn(_ mode: StorageMode, _ isReplaced: Bool) throws {
        let user = try Agent(root, "n", "mode=\(mode.rawValue) persistent=1")
        try user.run("write [\"job\", 0]")
        try user.run("claim [\"job\", \"?\"]")
        unlink("\(root.path)/n/lock.mdb")
        if isReplaced { try root.overwrite("n/lock.mdb", []) }

        let newcomer = try Agent()
        let refusal = try newcomer.ask("open \(root.path) n")
        #expect(refusal.hasPrefix("error damaged"), "\(refusal)")
        #expect(refusal.contains("lock.mdb") && refusal.contains("\(user.pid)"), "\(refusal)")
        let written = try runner.space("write", "--owner", "none", "n", "[\"lost\"]")
        #expect(written.ending == .exited(74), "\(written.errors)")
        let checked = try runner.start("space-dump", ["--check", "n"]).finish()
        #expect(checked.ending == .exited(1) && checked.output.contains("lock.mdb"), "\(checked.output)")

        try user.run("complete")
        for number in 1...3 { try user.run("write [\"kept\", \(number)]") }
        try user.run("leave")
        try newcomer.open(root, "n")
        #expect(try newcomer.run("count [\"kept\", \"?\"]") == "3")
        #expect(try newcomer.run("count [\"job\", \"?\"]") == "0")
        try newcomer.run("write [\"again\"]")
        #expect(try newcomer.run("verify") == "")
    }

    /// LMDB believes the number of readers in the file: it reads, and writes, as many slots as that says.
    @Test(arguments: [UInt32.max, 4096])
    func aNumberOfReadersThatTheFileCannotHaveIsDamage(_ number: UInt32) throws {
        let user = try Agent(root, "n", "persistent=1")
        try user.run("write [\"kept\", 1]")
        let path = "n/lock.mdb"
        // mdb.c, MDB_txbody: mtb_numreaders.
        let former = Array(try root.bytes(of: path)[56..<60])
        try root.overwrite(path, withUnsafeBytes(of: number.littleEndian) { Array($0) }, at: 56)

        let newcomer = try Agent()
        let refusal = try newcomer.ask("open \(root.path) n")
        #expect(refusal.hasPrefix("error damaged") && refusal.contains("lock.mdb"), "\(refusal)")
        let counted = try runner.space("count", "n")
        #expect(counted.ending == .exited(74) && counted.errors.contains("lock.mdb"), "\(counted.errors)")

        try root.overwrite(path, former, at: 56)
        try newcomer.open(root, "n")
        #expect(try newcomer.run("count") == "1")
        #expect(try user.run("verify") == "")
    }

    /// A lock file that another program overwrites while it is in use is no reason to give up the data.
    @Test(arguments: [0, 4]) func anOverwrittenLockFileIsNotCalledDamagedData(_ offset: Int) throws {
        let user = try Agent(root, "n", "persistent=1")
        try user.run("write [\"kept\", 1]")
        try root.overwrite("n/lock.mdb", [UInt8](repeating: 0x5A, count: 4), at: offset)
        let counted = try runner.space("count", "n")
        #expect(counted.ending == .exited(74) && counted.errors.contains("lock.mdb"), "\(counted.errors)")
        #expect(!counted.errors.contains("salvage") && counted.errors.contains("the data stays"), "\(counted.errors)")
        try user.kill()
        #expect(try runner.space("count", "n").output == "1\n")
    }

    /// Neither is it for a process that has the namespace open.
    @Test func aMutexThatIsOverwrittenIsNotCalledAnInvalidArgument() throws {
        let user = try Agent(root, "n", "persistent=1 mode=guarded")
        try user.run("write [\"kept\", 1]")
        // mti_wmutex, and in it the kind, which glibc does not know then.
        try root.overwrite("n/lock.mdb", [0x7F, 0, 0, 0], at: 64 + 16)
        let refusal = try user.ask("write [\"lost\", 1]")
        #expect(refusal.hasPrefix("error damaged") && refusal.contains("lock.mdb"), "\(refusal)")
        try user.kill()
        #expect(try runner.space("count", "n").output == "1\n")
    }

    /// To LMDB, readers of the program that a process was before execve(2) are those of a living process.
    @Test(arguments: StorageMode.allCases)
    func aProcessThatBecomesAnotherProgramLeavesNoReaders(_ mode: StorageMode) throws {
        let namespace = try root.namespace(mode)
        try namespace.write("kept", 1)
        let agent = try Agent()
        var slots: Set<Int> = []
        for _ in 0..<4 {
            try agent.open(root, namespace.name)
            #expect(try agent.run("count") == "1")
            slots.insert(try namespace.readerSlots(of: agent.pid))
            try agent.run("begin-again")
        }
        #expect(slots.count == 1, "\(slots)")
        // This process's own reader stays.
        #expect(try namespace.count() == 1 && namespace.readerSlots(of: getpid()) > 0)
        #expect(try namespace.verify() == [])
        try agent.exit()
    }

    /// A killed first opener holds LMDB's lock until its files are closed, and gives up the door before that.
    ///
    /// What it has left is no lock file that others may use: it names no commit.
    @Test(arguments: StorageMode.allCases)
    func whatAKilledFirstOpenerLeavesIsNotUsed(_ mode: StorageMode) throws {
        let writer = try Agent(root, "n", "mode=\(mode.rawValue) persistent=1")
        for number in 1...50 { try writer.run("set key-\(number) \(number)") }
        try writer.run("leave")
        // What LMDB has done when it is killed on its way: the lock, and no commit's number.
        let lock = try OwnedDescriptor.open("\(root.path)/n/lock.mdb", flags: O_RDWR)
        #expect(try FileLock.tryExclusive(lock.raw, byte: 0))
        #expect(pwrite(lock.raw, [UInt8](repeating: 0, count: 8), 8, 48) == 8)

        let newcomer = try Agent()
        let refusal = try newcomer.ask("open \(root.path) n timeout=200")
        #expect(refusal.hasPrefix("error holderBusy"), "\(refusal)")
        #expect(refusal.contains("another process holds LMDB's lock file"), "\(refusal)")

        try newcomer.send("open \(root.path) n")
        try FileLock.unlock(lock.raw, byte: 0)
        #expect(try newcomer.line() == "ok")
        try newcomer.run("write [\"job\", 1]")
        for number in 1...50 { #expect(try newcomer.run("get key-\(number)") == "\(number)") }
        #expect(try newcomer.run("verify") == "")
    }
}
