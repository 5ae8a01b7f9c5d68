import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Processes of their own read damaged pages: each call returns its result, or throws `damaged`.
@Suite(.blocking, .serialized, .timeLimit(.minutes(10)))
struct DamagedPageTests {
    static let pageSize = 4096

    /// A persistent namespace of 1,000 tuples and 20 cells that no process has open; its pages in use.
    private func make(_ root: TemporaryRoot, _ mode: StorageMode) throws -> Int {
        let options = NamespaceOptions(mode: mode, isPersistent: true)
        let namespace = try root.space.namespace("n", options: options)
        try namespace.write(
            contentsOf: (0..<1000).map { number -> Tuple in ["job", number, "a text that takes some room"] }
        )
        for number in 0..<20 { try namespace.set("cell \(number)", number) }
        let pages = try namespace.status().bytes / Self.pageSize
        try namespace.leave()
        return pages
    }

    private static let calls = [
        #"count ["?", "?", "?"]"#, #"read ["job", 999, "?"]"#, #"read ["?", "?", "?"]"#, "get cell", "verify",
        #"claim ["job", "?", "?"]"#, #"take ["job", 500, "?"]"#, #"write ["new", 1]"#, "set cell 1", "write-loop 0 50",
    ]

    /// Makes every call in an agent, and returns how many calls said that the namespace is damaged.
    private func askAll(_ agent: Agent, _ root: TemporaryRoot, _ page: Int) throws -> Int {
        var damaged = 0
        for call in ["open \(root.path) n timeout=3000"] + Self.calls {
            let answer = try agent.ask(call)
            guard answer.hasPrefix("error") else { continue }
            if answer.hasPrefix("error damaged") {
                damaged += 1
            } else {
                #expect(answer.hasPrefix("error agent"), "page \(page), \(call): \(answer)")
            }
        }
        return damaged
    }

    enum Damage: CaseIterable, Sendable {
        /// All zeros.
        case zeros
        /// A leaf of a form that no table has: LMDB reserves no room for a value in it.
        case leafOfKeys

        func spoil(_ page: Int, _ root: TemporaryRoot) throws {
            let place = page * DamagedPageTests.pageSize
            switch self {
            case .zeros:
                try root.overwrite("n/data.mdb", [UInt8](repeating: 0, count: DamagedPageTests.pageSize), at: place)
            case .leafOfKeys: try root.overwrite("n/data.mdb", [0x22], at: place + 10)
            }
        }
    }

    /// A removal from a leaf of another form makes LMDB move bytes beyond the page: in the heap, where a `guarded` namespace
    /// has the pages that it changes, nothing can stop it.
    @Test(arguments: [(StorageMode.fast, Damage.zeros), (.guarded, .zeros), (.fast, .leafOfKeys)])
    func aDamagedPageEndsNoProcess(_ mode: StorageMode, _ damage: Damage) throws {
        var damagedPages = 0
        var page = 2
        while true {
            let root = try TemporaryRoot()
            guard try page < make(root, mode) else { break }
            try damage.spoil(page, root)
            let (first, second) = (try Agent(), try Agent())
            if try askAll(first, root, page) > 0 { damagedPages += 1 }
            // LMDB's writer mutex and the gate are free again, though the first process lives.
            _ = try askAll(second, root, page)
            try second.exit()
            try first.exit()
            try root.space.delete("n")
            page += 1
        }
        #expect(damagedPages > 10)
    }

    /// A page that says of how many pages a large value consists says too much: LMDB would list each of them as free.
    @Test(arguments: [StorageMode.fast, .guarded], [6000, 3000])
    func aRunOfPagesBeyondTheFileFillsNoMemory(_ mode: StorageMode, _ size: Int) throws {
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: mode, isPersistent: true))
        for _ in 0..<4 { try namespace.write("job", [UInt8](repeating: 7, count: size)) }
        try namespace.set("cell", [UInt8](repeating: 7, count: size))
        let pages = try namespace.status().bytes / Self.pageSize
        try namespace.leave()
        let data = try root.prefix(of: "n/data.mdb", count: pages * Self.pageSize)
        let runs = (2..<pages).filter { data[$0 * Self.pageSize + 10] == 4 }
        #expect(runs.count >= 5)
        for run in runs { try root.overwrite("n/data.mdb", [0, 0, 0, 0x20], at: run * Self.pageSize + 12) }
        for call in [#"take ["job", "?"]"#, "unset cell", "set cell 1", #"count ["job", "?"]"#] {
            let agent = try Agent(root, "n")
            // The peak of the process that has started it counts too (getrusage(2)).
            let before = try #require(Int(try agent.run("peak-memory")))
            let answer = try agent.ask(call)
            #expect(answer.hasPrefix("error damaged"), "\(call): \(answer)")
            let peak = try #require(Int(try agent.run("peak-memory")))
            #expect(peak - before < 1 << 20, "\(call): from \(before) to \(peak) KiB")
            try agent.exit()
        }
    }

    /// With liblmdb as it is, a damaged page ends the process.
    @Test func withoutGuardsTheProcessDies() throws {
        let root = try TemporaryRoot()
        _ = try make(root, .fast)
        // One of the leaves of the table of tuples.
        try Damage.zeros.spoil(10, root)
        let agent = try Agent()
        try agent.run("leave-out damagedPages")
        try agent.open(root, "n")
        try agent.send("take-loop 0")
        #expect(try agent.ended() == .killed(by: 6))
    }

    /// The file is cut while a process has it open and reads from it.
    @Test(arguments: [StorageMode.fast, .guarded])
    func aFileThatIsCutShortUnderItsReadersIsDamage(_ mode: StorageMode) throws {
        let root = try TemporaryRoot()
        _ = try make(root, mode)
        let agent = try Agent(root, "n")
        #expect(try agent.ask(Self.calls[0]).hasPrefix("ok"))
        try root.overwrite("n/data.mdb", [], length: 0)
        for call in Self.calls.filter({ $0 != "verify" }) {
            let answer = try agent.ask(call)
            #expect(answer.hasPrefix("error damaged"), "\(call): \(answer)")
        }
        try agent.exit()
        try root.space.delete("n")
    }
}
