import Glibc
import SharedSpace
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// At each limit of a process an operation fails with an error, and nothing is lost or left behind.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct ProcessLimitTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test(arguments: StorageMode.allCases)
    func aLimitOnTheSizeOfFilesIsAnError(_ mode: StorageMode) throws {
        // setrlimit(2): a process that writes beyond RLIMIT_FSIZE gets SIGXFSZ, which would end the agent.
        let agent = try Agent()
        try agent.run("limit fsize \(32 << 20)")
        let answer = try agent.ask("open \(root.path) n mode=\(mode) limit=\(64 << 20)")
        #expect(answer.hasPrefix("error limitReached"))
        #expect(answer.contains("ulimit"))
        #expect(try root.space.namespaceNames() == [])
        #expect(root.leftovers == [])
        // A namespace that exists can't be opened either, and loses nothing by that.
        let namespace = try root.namespace(mode, byteLimit: 64 << 20)
        try namespace.write("kept", 1)
        #expect(try agent.ask("open \(root.path) n").hasPrefix("error limitReached"))
        #expect(try namespace.status().owners.count == 1)
        // A small namespace fits into the limit in the modes whose file is only as long as its used part.
        if mode != .fast {
            try agent.open(root, "small", "mode=\(mode) limit=\(16 << 20)")
            #expect(try agent.ask("fill 4000 1000000").contains(" error limitReached "))
            try agent.run("drain")
            #expect(try agent.run("verify") == "")
        }
        try agent.exit()
        #expect(try namespace.verify() == [])
    }

    /// If there are too few descriptors, opening fails at each of its steps, and leaves nothing behind.
    @Test(arguments: [true, false])
    func descriptorsRunOut(_ isThere: Bool) throws {
        let namespace = isThere ? try root.space.namespace("n") : nil
        try namespace?.write("kept", 1)
        var failures = 0
        for limit in 4..<24 {
            let agent = try Agent()
            try agent.run("limit nofile \(limit)")
            let answer = try agent.ask("open \(root.path) n")
            if answer != "ok" {
                failures += 1
                #expect(answer.hasPrefix("error descriptorsExhausted"), "with \(limit): \(answer)")
            }
            try agent.exit()
            if let namespace {
                #expect(try namespace.status().owners.map(\.pid) == [getpid()])
            } else {
                #expect(try root.space.namespaceNames() == [])
            }
            #expect(root.leftovers == [])
        }
        #expect((1..<20).contains(failures))
        #expect(try namespace?.verify() ?? [] == [])
    }

    /// A process without a descriptor to spare goes on with what it has open.
    @Test func whoHasNoDescriptorsLeftGoesOn() throws {
        let namespace = try root.space.namespace("n")
        let agent = try Agent(root, "n")
        try agent.run("write [\"job\", 1]")
        try agent.run("limit nofile 3")
        try agent.run("write [\"job\", 2]")
        #expect(try agent.run("take [\"job\", 1]") == #"["job",1]"#)
        try agent.block("take-wait 60000 [\"late\"]", in: namespace)
        try namespace.write("late")
        #expect(try agent.line() == #"ok ["late"]"#)
        #expect(try agent.run("verify") == "")
        // The process can't open the folder to leave properly; its end is noticed all the same.
        _ = try agent.ask("leave")
        try agent.exit()
        #expect(try namespace.takeIfExists("job", 2) != nil)
        try namespace.leave()
        #expect(try root.space.namespaceNames() == [])
    }

    /// A process without a descriptor to open the change signal leaves its watchers to the tick, and writes to the
    /// signal as soon as it has a descriptor.
    @Test func theBellIsRungOnceThereAreDescriptors() throws {
        _ = try SpaceTest.namespace("n")
        let observer = try Agent(root, "n", "owning=0")
        try observer.run("observe")
        let agent = try Agent(root, "n", "owning=0")
        let signal = "\(root.path)/n/bell"
        func tell(_ number: Int) throws {
            try agent.run("set k \(number)")
            #expect(try observer.run("told \(number)").hasSuffix("set:\(number)"))
        }
        try agent.run("limit nofile 3")
        // An observer that was told of all changes awaits the change signal.
        for number in 1...20 { try tell(number) }
        #expect(try !agent.openFiles().contains(signal))
        try agent.run("limit nofile 100")
        var number = 20
        #expect(
            try eventually {
                number += 1
                try tell(number)
                return try agent.openFiles().contains(signal)
            }
        )
    }

    /// A responder's threads need descriptors: without them it is refused, and no thread ends the process later.
    @Test func aResponderIsRefusedIfThereAreNoDescriptors() throws {
        let namespace = try SpaceTest.namespace("n")
        let agent = try Agent(root, "n", "owning=0")
        try agent.run("limit nofile 3")
        let answer = try agent.ask("respond f key reply")
        #expect(answer.hasPrefix("error descriptorsExhausted"))
        #expect(answer.contains("the threads that answer requests"))
        #expect(try namespace.responders().isEmpty)
        try agent.run("limit nofile 100")
        try agent.run("respond f key reply")
        #expect(try Agent(root, "n", "owning=0").run("request-blocking f 30000 1") == "key:1")
        try agent.exit()
    }
}
