import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// The root that is used without an option and without the variable: the user's alone, even if another user has put
/// something in its place.
@Suite(
    "The default root",
    .blocking,
    .enabled(if: geteuid() == 0, "only root can mount, and give a folder away"),
    .timeLimit(.minutes(5))
)
struct DefaultRootTests {
    /// Runs a shell script that sees an empty /dev/shm of its own, and no `SHARED_SPACE_ROOT`.
    private func shell(_ script: String) throws -> CommandResult {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        return try runner.start(
            "/usr/bin/unshare",
            ["-m", "/bin/sh", "-c", "mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit 99\n\(script)"],
            environment: ["SHARED_SPACE_ROOT": ""]
        ).finish()
    }

    /// Makes the folder as another user may have prepared it for a group of the victim's.
    private let prepared = """
        mkdir /dev/shm/shared-space-0
        chmod 2770 /dev/shm/shared-space-0
        chown 12345:"$(id -g)" /dev/shm/shared-space-0

        """

    @Test("A folder that another user prepared for a common group is refused, and stays empty")
    func preparedFolder() throws {
        for command in ["write jobs '[1]'", "list", "count jobs", "watch jobs", "reap"] {
            let result = try shell("\(prepared)space \(command); echo $?; ls -A /dev/shm/shared-space-0")
            #expect(result.output == "77\n", "space \(command): \(result.errors)")
            #expect(result.errors.contains("belongs to uid 12345") && result.errors.contains("--root"))
        }
    }

    @Test("The same folder is a group's root where it is named")
    func named() throws {
        let result = try shell(
            """
            \(prepared)space write jobs --root /dev/shm/shared-space-0 '[1]'
            SHARED_SPACE_ROOT=/dev/shm/shared-space-0 space count jobs
            """
        )
        #expect(result.output == "1\n", "\(result.errors)")
    }

    @Test("A link in its place is refused")
    func link() throws {
        let result = try shell("mkdir /dev/shm/x; ln -s x /dev/shm/shared-space-0; space write jobs '[1]'; echo $?")
        #expect(result.output == "77\n", "\(result.errors)")
    }

    @Test("It is made for its user alone, and made so again when other users may look into it")
    func mode() throws {
        let result = try shell(
            """
            umask 0
            space write jobs '[1]'
            stat -c %a /dev/shm/shared-space-0
            chmod 755 /dev/shm/shared-space-0
            space count jobs
            stat -c %a /dev/shm/shared-space-0
            chmod 2770 /dev/shm/shared-space-0
            space count jobs; echo $?
            """
        )
        #expect(result.output == "700\n1\n700\n77\n", "\(result.errors)")
        #expect(result.errors.contains("chmod 700"))
    }
}
