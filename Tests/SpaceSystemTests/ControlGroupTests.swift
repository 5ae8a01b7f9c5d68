import Glibc
import SpaceSystem
import SystemPackage
import Testing

/// Whether a control group is frozen, by the group's files.
struct ControlGroupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ path: String, _ text: String) throws {
        let parts = path.split(separator: "/").map(String.init)
        var parent = try OwnedDescriptor.directory(FilePath(folder.path))
        for part in parts.dropLast() {
            if mkdirat(parent.raw, part, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
            parent = try OwnedDescriptor.directory(at: parent.raw, part)
        }
        let file = try OwnedDescriptor.openat(
            directory: parent.raw,
            try #require(parts.last),
            flags: O_RDWR | O_CREAT | O_TRUNC,
            mode: 0o600
        )
        try FileBytes.write(Array(text.utf8), to: file.raw)
    }

    private func isFrozen() -> Bool { ControlGroups.isFrozen(7, proc: "\(folder.path)/proc") }

    @Test func ofTheSecondVersion() throws {
        #expect(!isFrozen())
        try make("proc/7/cgroup", "0::/user/job:1\n")
        #expect(!isFrozen())
        try make("proc/self/mountinfo", "41 31 0:38 / \(folder.path)/two rw,relatime - cgroup2 cgroup2 rw\n")
        #expect(!isFrozen())
        try make("two/user/job:1/cgroup.events", "populated 1\nfrozen 0\n")
        #expect(!isFrozen())
        try make("two/user/job:1/cgroup.events", "populated 1\nfrozen 1\n")
        #expect(isFrozen())
        // A container sees only a part of the tree.
        try make("proc/self/mountinfo", "41 31 0:38 /user \(folder.path)/part rw shared:1 - cgroup2 cgroup2 rw\n")
        #expect(!isFrozen())
        try make("part/job:1/cgroup.events", "frozen 1\n")
        #expect(isFrozen())
        try make("proc/self/mountinfo", "41 31 0:38 /userland \(folder.path)/part rw - cgroup2 cgroup2 rw\n")
        #expect(!isFrozen())
    }

    @Test func ofTheFirstVersion() throws {
        try make("proc/7/cgroup", "9:name=systemd:/\n6:cpu,freezer:/job\n0::/\n")
        try make(
            "proc/self/mountinfo",
            "37 31 0:34 / \(folder.path)/one rw - cgroup cgroup rw,cpu,freezer\nbroken - \n"
        )
        try make("one/job/freezer.state", "FREEZING\n")
        #expect(!isFrozen())
        try make("one/job/freezer.state", "FROZEN\n")
        #expect(isFrozen())
        try make("proc/self/mountinfo", "37 31 0:34 / \(folder.path)/one rw - cgroup cgroup rw,cpu\n")
        #expect(!isFrozen())
    }

    @Test func thisProcessIsNot() {
        #expect(ProcessIdentity.halt(of: getpid()) == nil)
        #expect(ProcessIdentity.halt(of: 0) == nil)
        #expect(!ControlGroups.isFrozen(-1))
    }
}
