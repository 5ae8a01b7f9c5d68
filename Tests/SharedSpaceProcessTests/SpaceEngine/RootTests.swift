import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Root folders: named by relative paths, and shared with a group.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct RootTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test(arguments: ["./space", "space", "."])
    func aRelativeRootIsOfTheFolderInWhichItWasNamed(_ path: String) throws {
        let agent = try Agent()
        #expect(mkdir("\(root.path)/space", 0o700) == 0)
        try agent.run("chdir \(root.path)\(path == "." ? "/space" : "")")
        try agent.run("open \(path) n")
        try agent.run("write [\"kept\"]")
        try agent.run("chdir /")
        #expect(try agent.run("names") == "n")
        try agent.run("enrol \(getpid())")
        try agent.run("write [\"kept\"]")
        let namespace = try Space(root: "\(root.path)/space").existingNamespace("n")
        #expect(try namespace.count() == 2)
        #expect(try namespace.verify() == [])
    }

    /// A member of the root's group was killed before it had opened the nursery to the others: they make a new one.
    @Test(.enabled(if: geteuid() == 0, "only root can become others"), arguments: [".nursery", ".graveyard"])
    func aFolderThatIsClosedToTheGroupIsReplaced(_ folder: String) throws {
        // The group is root's own; an agent that has changed only its uid belongs to it.
        #expect(chown(root.path, 12345, getegid()) == 0 && chmod(root.path, 0o2770) == 0)
        #expect(mkdir("\(root.path)/\(folder)", 0o700) == 0 && chown("\(root.path)/\(folder)", 12345, getegid()) == 0)
        let member = try Agent()
        try member.run("uid 23456")
        try member.run("open \(root.path) n")
        try member.run("write [\"kept\"]")
        try member.run("leave")
        #expect(root.entries(of: folder) == [])
        // The owner repairs its own folder, even if something is in it.
        #expect(chmod("\(root.path)/.nursery", 0o700) == 0)
        try root.overwrite(".nursery/file", [1])
        try member.open(root, "m")
        let other = try Agent()
        try other.run("uid 34567")
        try other.open(root, "o")
        try other.run("leave")
        try member.run("leave")
        #expect(unlink("\(root.path)/.nursery/file") == 0)
        #expect(root.entries() == [".graveyard", ".nursery"])
    }
}
