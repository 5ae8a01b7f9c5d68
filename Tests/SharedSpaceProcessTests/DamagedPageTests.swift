import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Processes of their own read damaged pages: each call returns its result, or throws `damaged`.
@Suite(.blocking, .serialized, .timeLimit(.minutes(10)))
struct DamagedPageTests {
    private static let pageSize = 4096

    /// A persistent namespace of 1,000 tuples and 20 cells that no process has open; its pages in use.
    private func make(_ root: TemporaryRoot, _ mode: StorageMode) throws -> Int {
        let options = NamespaceOptions(mode: mode, isPersistent: true)
        let namespace = try root.space.namespace("n", options: options)
        try namespace.write(
            contentsOf: (0..<1000).map { number -> Tuple in ["job", number, "a text that takes some room"] }
        )
        for number in 0..<20 { try namespace.set("cell \(number)", value: .int(number)) }
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

    @Test(arguments: [StorageMode.fast, .guarded])
    func aZeroedPageEndsNoProcess(_ mode: StorageMode) throws {
        var damagedPages = 0
        var page = 2
        while true {
            let root = try TemporaryRoot()
            guard try page < make(root, mode) else { break }
            try root.overwrite("n/data.mdb", [UInt8](repeating: 0, count: Self.pageSize), at: page * Self.pageSize)
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

    /// With liblmdb as it is, a damaged page ends the process.
    @Test func withoutGuardsTheProcessDies() throws {
        let root = try TemporaryRoot()
        _ = try make(root, .fast)
        // One of the leaves of the table of tuples.
        try root.overwrite("n/data.mdb", [UInt8](repeating: 0, count: Self.pageSize), at: 10 * Self.pageSize)
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
