import SpaceTestSupport
import SpaceTesting
import Testing

/// One damaged byte of a meta page: each command ends by itself, and no command that ends with 0 leaves out an
/// acknowledged change.
@Suite("Damaged meta pages", .blocking, .timeLimit(.minutes(10)))
struct MetaPageTests {
    private static let pageSize = 4096
    private static let file = "n/data.mdb"

    let root: TemporaryRoot
    let runner: CommandRunner

    init() throws {
        root = try TemporaryRoot()
        runner = CommandRunner(root: root.path)
    }

    /// A byte of the last commit's meta page, or of the one before.
    struct Damage: CustomStringConvertible {
        let offset: Int
        let value: UInt8
        var isInOlder = false
        var description: String { "byte \(offset) \(value)\(isInOlder ? ", older page" : "")" }
    }

    private static func transaction(_ bytes: [UInt8], page: Int) -> UInt64 {
        bytes[page * pageSize + 144..<page * pageSize + 152].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Makes a namespace that no process uses, with some leaves and a take, and returns its first pages and how many
    /// tuples it has.
    private func make(_ options: String...) throws -> (pristine: [UInt8], count: Int) {
        let lines = (0..<200).map { "[\"t\",\($0),\"some text that takes a little room\"]\n" }.joined()
        let words = ["write", "n", "-", "--owner", "none", "--persistent"] + options
        #expect(try runner.start("space", words).finish(input: lines).status == 0)
        #expect(try runner.space("take", "n", "--owner", "none", #"["t",5,"?"]"#).status == 0)
        #expect(try runner.space("write", "n", "--owner", "none", #"["t",1000,"acknowledged"]"#).status == 0)
        return (try root.prefix(of: Self.file, count: 2 * Self.pageSize), 200)
    }

    private func apply(_ damage: Damage, _ pristine: [UInt8]) throws {
        let isSecondNewer = Self.transaction(pristine, page: 1) > Self.transaction(pristine, page: 0)
        let page = isSecondNewer != damage.isInOlder ? 1 : 0
        try root.overwrite(Self.file, pristine)
        try root.overwrite(Self.file, [damage.value], at: page * Self.pageSize + damage.offset)
    }

    /// Runs a command, and kills it if it hangs.
    private func run(_ program: String, _ arguments: String...) throws -> CommandResult {
        let words = ["-s", "KILL", "60", CommandRunner.path(program)] + arguments
        return try runner.start("/usr/bin/timeout", words, environment: ["SWIFT_BACKTRACE": "enable=no"]).finish()
    }

    private func expectNoLies(_ damage: Damage, _ pristine: [UInt8], _ count: Int) throws {
        try apply(damage, pristine)
        let salvaged = try run("space-dump", "--salvage", "n")
        let saved = salvaged.lines.count { $0.hasPrefix(#"{"kind":"tuple""#) }
        #expect([0, 1].contains(salvaged.status), "\(damage): \(salvaged.ending) \(salvaged.errors)")
        // Nothing of the commit before is lost.
        #expect((count - 1...count).contains(saved), "\(damage): \(saved) of \(count) tuples")
        #expect(
            saved == count || salvaged.status == 1 && salvaged.errors.contains("left out: "),
            "\(damage): \(saved) of \(count) tuples, and \(salvaged.ending): \(salvaged.errors)"
        )
        let check = try run("space-dump", "--check", "n")
        #expect(check.status == salvaged.status, "\(damage): \(check.ending) \(check.output)\(check.errors)")
        let read = try run("space", "read", "n", "--owner", "none", #""?""#, "--all")
        #expect(read.status == 0 && read.lines.count == count || read.status == 74, "\(damage): \(read.ending)")
        let taken = try run("space", "take", "n", "--owner", "none", #""?""#, "--all")
        #expect(taken.status == 0 && taken.lines.count == count || taken.status == 74, "\(damage): \(taken.ending)")
        if check.status == 0 { #expect(read.status == 0 && taken.status == 0, "\(damage)") }
    }

    /// Bytes that an attack on the format found: the last page, the shapes of both trees, their roots and their depths.
    @Test(
        arguments: [
            (136, 1), (80, 255), (128, 255), (54, 255), (55, 1), (62, 255), (63, 1), (70, 255), (71, 1), (103, 1),
            (111, 1),
            (119, 255), (95, 65), (94, 255), (95, 1), (46, 9), (44, 12), (92, 4),
        ] as [(Int, UInt8)]
    )
    func ofTheLastCommit(_ offset: Int, _ value: UInt8) throws {
        let (pristine, count) = try make()
        let damage = Damage(offset: offset, value: value)
        try expectNoLies(damage, pristine, count)
        try apply(damage, pristine)
        #expect(try run("space-dump", "--check", "n").status == 1)
    }

    /// LMDB takes the page with the higher number for the current one, so a damaged number makes the older page count.
    @Test(arguments: ["--durable", "--guarded"], [145, 147, 149, 151])
    func aCommitsNumberThatIsTooHigh(_ mode: String, _ offset: Int) throws {
        let (pristine, count) = try make(mode)
        for isInOlder in [true, false] {
            let damage = Damage(offset: offset, value: 77, isInOlder: isInOlder)
            try expectNoLies(damage, pristine, count)
            try apply(damage, pristine)
            let salvaged = try run("space-dump", "--salvage", "n")
            #expect(salvaged.status == 1)
            #expect(salvaged.errors.contains("what the last commit did may be missing"), "\(salvaged.errors)")
            #expect(salvaged.output.contains("acknowledged"))
        }
    }

    /// LMDB computes the position of the second page from the page size in the first.
    @Test(arguments: [(41, 128), (41, 32), (42, 1)] as [(Int, UInt8)], [false, true])
    func aPageSizeThatIsAnother(_ byte: (offset: Int, value: UInt8), _ isInOlder: Bool) throws {
        let (pristine, count) = try make()
        try expectNoLies(Damage(offset: byte.offset, value: byte.value, isInOlder: isInOlder), pristine, count)
    }

    @Test("Every sixth byte of either page is damaged in turn")
    func sample() throws {
        let (pristine, count) = try make("--guarded")
        for (number, offset) in stride(from: 16, to: 152, by: 6).enumerated() {
            let value: UInt8 = [1, 65, 255][number % 3]
            try expectNoLies(Damage(offset: offset, value: value, isInOlder: number % 2 == 0), pristine, count)
        }
    }
}
