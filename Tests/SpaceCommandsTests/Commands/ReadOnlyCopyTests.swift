import SpaceTestSupport
import SpaceTesting
import Testing

/// Runs a script where `$ro` is the folder `$SHARED_SPACE_ROOT/copy`, mounted once more and read-only; the mount goes
/// with the script.
private func readOnly(_ runner: CommandRunner, _ script: String) throws -> CommandResult {
    try runner.shell(
        """
        exec unshare --mount --propagation private sh -c '
        ro="$SHARED_SPACE_ROOT/.ro" && mkdir -p "$ro" -m 700 || exit 9
        mount --bind "$SHARED_SPACE_ROOT/copy" "$ro" && mount -o remount,ro,bind "$ro" || exit 9
        \(script)
        '
        """
    )
}

private let mayMount: Bool = {
    guard let root = try? TemporaryRoot() else { return false }
    let runner = CommandRunner(root: root.path)
    guard (try? runner.shell(#"mkdir "$SHARED_SPACE_ROOT/copy""#)) != nil else { return false }
    return (try? readOnly(runner, #"! touch "$ro/x" 2> /dev/null"#))?.ending == .exited(0)
}()

@Suite(
    "Copies of namespaces on a read-only file system",
    .blocking,
    .timeLimit(.minutes(5)),
    .enabled(if: mayMount, "mounting a folder read-only is not permitted")
)
struct ReadOnlyCopyTests {
    /// Makes a copy of a persistent namespace that no process has open.
    private func copy(_ runner: CommandRunner, _ mode: String) throws {
        let made = try runner.shell(
            #"""
            space write jobs --persistent \#(mode) '["kept",1]' && space set jobs k 2 || exit 8
            cd "$SHARED_SPACE_ROOT" && mkdir -m 700 copy && cp -a --sparse=always jobs copy/
            """#
        )
        #expect(made.ending == .exited(0), "\(made.errors)")
    }

    private static let missing = ["", "sessions", "lock.mdb", "sessions lock.mdb bell"]

    @Test(
        "A dump, a check and a salvage read it, and change nothing",
        arguments: ["", "--guarded", "--durable"],
        missing
    )
    func isRead(_ mode: String, _ missing: String) throws {
        try withRoot { (runner) throws in
            try copy(runner, mode)
            let removed = try runner.shell(
                #"cd "$SHARED_SPACE_ROOT/copy/jobs" && for name in \#(missing); do rm -r "$name"; done; ls"#
            )
            let list = #"(cd "$SHARED_SPACE_ROOT/copy" && find . -exec stat -c "%n %Y %Z %s %i" {} + | sort)"#
            let before = try runner.shell(list).output
            for command in ["", "--format json", "--salvage"] {
                let dumped = try readOnly(runner, "space-dump \(command) \"$ro/jobs/\"")
                #expect(dumped.ending == .exited(0), "\(command): \(dumped.errors)")
                #expect(dumped.output.contains(#"["kept",1]"#), "\(command): \(dumped.output)")
            }
            let checked = try readOnly(runner, "space-dump --check \"$ro/jobs/\"")
            #expect(checked.ending == .exited(0) && checked.output == "", "\(checked.output)\(checked.errors)")
            #expect(checked.errors.contains("a read-only file system"))
            // On the writable mount the output is the same.
            for command in ["", "--check"] {
                let dumped = try runner.shell("exec space-dump \(command) \"$SHARED_SPACE_ROOT/copy/jobs/\"")
                #expect(dumped.ending == .exited(0), "\(command): \(dumped.output)\(dumped.errors)")
            }
            #expect(try runner.shell(list).output == before)
            #expect(try runner.shell("ls \"$SHARED_SPACE_ROOT/copy/jobs\"").output == removed.output)
        }
    }
}
