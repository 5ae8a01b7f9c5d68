import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Namespaces whose header names another system or other files.
///
/// A container has a boot id or a PID namespace of its own; a disk is mounted again under another number. The kernel's
/// locks decide: a namespace that is in use is refused and left as it is, and one that no process uses is taken over
/// with its contents.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct ForeignIdentityTests {
    let root: TemporaryRoot
    let runner: CommandRunner

    init() throws {
        root = try TemporaryRoot()
        runner = CommandRunner(root: root.path)
    }

    /// Runs a script under another boot id, as systemd-nspawn and LXC do.
    private func underAnotherBootID(_ script: String) throws -> CommandResult {
        let path = "\(root.path)/.boot-id"
        try root.overwrite(".boot-id", Array("01234567-89ab-cdef-0123-456789abcdef\n".utf8))
        let whole = "mount --bind \(path) /proc/sys/kernel/random/boot_id && \(script)"
        return try runner.start("/usr/bin/unshare", ["-Urm", "/bin/sh", "-c", whole]).finish()
    }

    /// Runs a script in a PID namespace that ends with it.
    private func inAnotherPIDNamespace(_ script: String) throws -> CommandResult {
        try runner.start("/usr/bin/unshare", ["-Urpf", "--mount-proc", "/bin/sh", "-c", script]).finish()
    }

    @Test(arguments: StorageMode.allCases, [false, true])
    func aMaskedBootIDDeletesNothingThatIsInUse(_ mode: StorageMode, _ isPersistent: Bool) throws {
        let owner = try Agent(root, "n", "mode=\(mode.rawValue) persistent=\(isPersistent ? 1 : 0)")
        try owner.run("write [\"kept\", 1]")
        let taker = try Agent(root, "n")
        try taker.send("take-wait 100000 [\"job\", \"?\"]")
        #expect(try taker.line() == "waiting")
        let namespace = try root.space.namespace("n", owning: false)
        #expect(try eventually { try namespace.status().waiters.count == 1 })

        let listed = try underAnotherBootID("space list && space reap")
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(listed.lines.contains { $0.hasPrefix("n") })
        let written = try underAnotherBootID("space write --owner none n '[\"job\", 1]'")
        #expect(written.status == 69)
        #expect(written.errors.contains("boot id"), "\(written.errors)")

        try owner.run("write [\"job\", 2]")
        #expect(try taker.line() == "ok [\"job\",2]")
        #expect(try namespace.readAll() == [["kept", 1]])
        #expect(try namespace.verify() == [])
    }

    /// Runs a script with `$file`, the file of the one enrolled process.
    private func onEnrolment(in root: TemporaryRoot, _ script: String) throws {
        let whole = "set -- \"$0\"/n/sessions/*.for; file=$1; \(script)"
        let result = try runner.start("/bin/sh", ["-c", whole, root.path]).finish()
        #expect(result.status == 0, "\(result.errors)")
    }

    /// The facts that are damaged in an enrolment's file are in its name too.
    @Test(arguments: [
        "truncate -s 32 $file", "printf x >> $file", "printf x | dd of=$file bs=1 seek=40 conv=notrunc status=none",
        "ln $file $file.second", "rm $file && ln -s /dev/null $file",
    ])
    func aDamagedEnrolmentOwnsAllTheSame(_ damage: String) throws {
        let shell = try Agent()
        #expect(try runner.space("write", "--owner", "\(shell.pid)", "n", "[\"kept\"]").status == 0)
        try onEnrolment(in: root, damage)
        #expect(try runner.space("list").output.hasPrefix("n"))
        #expect(try runner.space("read", "--owner", "none", "n", "[\"kept\"]").output == "[\"kept\"]\n")
        try shell.kill()
        #expect(try runner.space("list").output == "")
    }

    /// A machine without a clock of its own begins in 1970, until the network sets it.
    @Test(arguments: [false, true])
    func anEnrolmentByAClockThatWasBehindOwnsAllTheSame(_ isInTimeNamespace: Bool) throws {
        let disk = try TemporaryRoot(in: "/var/tmp")
        let runner = CommandRunner(root: disk.path)
        let shell = try Agent()
        let words = ["write", "--guarded", "--owner", "\(shell.pid)", "n", "[\"kept\"]"]
        #expect(try runner.start("space", words).finish().status == 0)
        // An empty record's time is that of its file.
        try onEnrolment(in: disk, "truncate -s 0 $file && touch -d 1990-01-01 $file")
        try disk.overwrite(".boot-id", Array("01234567-89ab-cdef-0123-456789abcdef\n".utf8))
        let mount =
            "mount --bind \(disk.path)/.boot-id /proc/sys/kernel/random/boot_id && { space list; space reap; true; }"
        let time = isInTimeNamespace ? ["-T", "--boottime", "1000000"] : []
        let seen = try runner.start("/usr/bin/unshare", ["-Urm"] + time + ["/bin/sh", "-c", mount]).finish()
        #expect(seen.status == 0, "\(seen.errors)")
        #expect(try runner.space("read", "--owner", "none", "n", "[\"kept\"]").output == "[\"kept\"]\n")
    }

    /// An enrolled shell holds no lock, and may be alive all the same.
    @Test func aMaskedBootIDDeletesNothingThatAnEnrolledProcessOwns() throws {
        let shell = try Agent()
        #expect(try runner.space("write", "--owner", "\(shell.pid)", "n", "[\"kept\",1]").status == 0)
        #expect(try underAnotherBootID("space list && space reap").status == 0)
        #expect(try runner.space("count", "n").output == "1\n")
        try shell.kill()
        #expect(try runner.space("reap").output == "n\n")
    }

    @Test(arguments: StorageMode.allCases)
    func aMaskedBootIDTakesOverWhatNoProcessUses(_ mode: StorageMode) throws {
        let maker = try Agent(root, "n", "mode=\(mode.rawValue) persistent=1")
        try maker.run("write [\"kept\", 1]")
        try maker.run("claim [\"kept\", 1]")
        try maker.kill()
        let taken = try underAnotherBootID(
            "space take n '[\"kept\",\"?\"]' && space write --owner none n '[\"there\"]'"
        )
        #expect(taken.output == "[\"kept\",1]\n", "\(taken.errors)")
        // The namespace is taken over once more under the first boot id.
        #expect(try runner.space("read", "n", "\"?\"").output == "[\"there\"]\n")
        #expect(try runner.dump("--check", "n").status == 0)
    }

    @Test(arguments: StorageMode.allCases)
    func whatAnEndedContainerLeftIsTakenOver(_ mode: StorageMode) throws {
        let creation = mode == .fast ? "" : "--\(mode.rawValue)"
        // The shell that owns and claims ends with its PID namespace.
        let work =
            "export SHARED_SPACE_OWNER=$$; space write --persistent \(creation) n [1] && space claim --hold n [1]"
        let made = try inAnotherPIDNamespace("sh -c '\(work)'; exit $?")
        #expect(made.status == 0, "\(made.errors)")
        #expect(try runner.space("count", "n").status == 0)
        let namespace = try root.space.namespace("n")
        #expect(namespace.isPersistent)
        #expect(try namespace.readAll() == [[1]])
        #expect(try namespace.verify() == [])
    }

    @Test func anotherPIDNamespaceIsRefusedWhileOneUsesIt() throws {
        let owner = try Agent(root, "n", "mode=durable persistent=1")
        try owner.run("write [\"job\", 1]")
        let refused = try inAnotherPIDNamespace("sleep 0; space take n '[\"job\",1]'")
        #expect(refused.status == 69)
        #expect(refused.errors.contains("PID namespace"))
        #expect(try owner.run("count") == "1")
        try owner.kill()
        #expect(try inAnotherPIDNamespace("sleep 0; space take --owner none n '[\"job\",1]'").output == "[\"job\",1]\n")
    }

    /// An enrolled process of another PID namespace can't be looked up: its namespace stays, and the refusal names the
    /// process.
    @Test func anOwnerInAnotherPIDNamespaceCountsAsAlive() throws {
        #expect(try runner.space("write", "--owner", "\(getpid())", "n", "[\"kept\",1]").status == 0)
        let result = try inAnotherPIDNamespace("space list; space take n '\"?\"'")
        #expect(result.output.hasPrefix("n"))
        #expect(result.status == 69)
        #expect(result.errors.contains("\(getpid())"), "\(result.errors)")
        #expect(try runner.space("count", "n").output == "1\n")
        #expect(try runner.space("delete", "n").status == 0)
    }

    /// The same file system is mounted under another device number, without a reboot.
    @Test(arguments: StorageMode.allCases)
    func aDiskThatIsMountedAgainKeepsItsNamespaces(_ mode: StorageMode) throws {
        let image = try LoopImage()
        guard let first = image.attach() else { return print("skipped: no loop device is to be had (losetup)") }
        defer { image.detach() }
        let space = try Space(root: first)
        #expect(
            try runner.space(
                "write",
                "--root",
                first,
                "--persistent",
                mode == .fast ? "--owner" : "--\(mode.rawValue)",
                mode == .fast ? "none" : "--owner=none",
                "n",
                "[\"kept\",1]"
            ).status == 0
        )
        guard let second = try image.attachAgain() else { return print("skipped: no second loop device") }
        #expect(second == first)
        #expect(try space.namespaceNames() == ["n"])
        let namespace = try space.namespace("n")
        #expect(try namespace.readAll() == [["kept", 1]])
        #expect(try namespace.verify() == [])
        try namespace.leave()
    }
}

/// An ext4 file system in a file, on a loop device.
private final class LoopImage {
    private let image: TemporaryRoot
    private let mountPoint: TemporaryRoot
    private var devices: [String] = []

    init() throws {
        image = try TemporaryRoot(in: "/tmp")
        mountPoint = try TemporaryRoot(in: "/tmp")
        try image.overwrite("image", [], length: 256 << 20)
    }

    private func sh(_ script: String) -> String? {
        guard let result = try? CommandRunner(root: "/").shell("PATH=$PATH:/sbin:/usr/sbin; \(script)"),
            result.status == 0
        else {
            return nil
        }
        return result.output.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// - Returns: The root folder on it; `nil` where there are no loop devices.
    func attach() -> String? {
        guard sh("mkfs.ext4 -q '\(image.path)/image'") != nil else { return nil }
        return mount()
    }

    /// Mounts the image again, on another device.
    func attachAgain() throws -> String? {
        guard let old = devices.first, sh("umount '\(mountPoint.path)' && losetup -d \(old)") != nil else { return nil }
        // A process of another test that has made a mount namespace of its own meanwhile has the file system mounted
        // there. Until it ends, the kernel keeps the device, and what it has not written yet (losetup(8), --detach).
        guard try eventually({ sh("losetup \(old)") == nil }) else { throw TestFailure("\(old) stays in use") }
        // Another image takes the old device.
        guard let other = sh("truncate -s 1M '\(image.path)/other' && losetup -f --show '\(image.path)/other'") else {
            return nil
        }
        devices = [other]
        return mount()
    }

    private func mount() -> String? {
        guard let device = sh("losetup -f --show '\(image.path)/image'") else { return nil }
        devices.append(device)
        guard sh("mount \(device) '\(mountPoint.path)' && chmod 700 '\(mountPoint.path)'") != nil else { return nil }
        return mountPoint.path
    }

    func detach() {
        _ = sh("umount '\(mountPoint.path)'")
        for device in devices { _ = sh("losetup -d \(device)") }
    }
}
