import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The examples of articles that have one or two.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct SmallExamples {
    let space: SharedSpace.Space

    init() throws { space = try SpaceTest.root().space }

    /// Stands for the space's default root.
    private func Space() throws -> SharedSpace.Space { space }

    @Test func theFirstLines() async throws {
        let jobs = try Space().namespace("jobs")  // opens or creates it, and owns it
        try jobs.write("resize", 42, "cat.png")

        let (_, id, file) = try await jobs.take("resize", any(Int.self), any(String.self))  // typed by the template
        #expect(id == 42 && file == "cat.png")
    }

    @Test func aTemplateWithinATemplate() throws {
        let template: Template = ["job", ["kind": "resize", "id": .any] as Template]
        #expect(template.matches(["job", ["kind": "resize", "id": 7] as Value]))
        #expect(!template.matches(["job", ["kind": "crop", "id": 7] as Value]))
    }

    @Test func aByteLimit() throws {
        let jobs = try space.namespace("jobs", options: NamespaceOptions(byteLimit: 256 << 20))
        #expect(try jobs.status().byteLimit == 256 << 20)
    }

    @Test func aGroup() throws {
        // The folder and the group that the article names are not on every machine.
        let stand = try TemporaryRoot()
        func Space(root: String) throws -> SharedSpace.Space { stand.space }
        func NamespaceOptions(group: UInt32) -> SharedSpace.NamespaceOptions { .init(group: getgid()) }
        func open() throws -> String {
            let space = try Space(root: "/srv/space")
            let jobs = try space.namespace("jobs", options: NamespaceOptions(group: 990))  // the group's number
            return jobs.name
        }
        #expect(try open() == "jobs")
    }
}
