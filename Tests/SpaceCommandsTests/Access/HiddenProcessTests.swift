import SpaceTestSupport
import SpaceTesting
import Testing

/// Runs a script whose `$as` is another user, which sees none of this user's processes in /proc, with a root of its
/// own.
private func hidden(_ runner: CommandRunner, _ script: String) throws -> CommandResult {
    try runner.shell(
        """
        exec unshare --mount --propagation private sh -c '
        mount -t proc -o hidepid=2 proc /proc || exit 9
        chmod 711 "$SHARED_SPACE_ROOT" && export SHARED_SPACE_ROOT="$SHARED_SPACE_ROOT/other"
        mkdir -p -m 700 "$SHARED_SPACE_ROOT" && chown 12345:12345 "$SHARED_SPACE_ROOT" || exit 9
        as="setpriv --reuid 12345 --regid 12345 --clear-groups"
        \(script)
        '
        """
    )
}

private let mayHide: Bool = {
    guard let root = try? TemporaryRoot() else { return false }
    let result = try? hidden(CommandRunner(root: root.path), "$as space list && ! $as test -e /proc/$$")
    return result?.ending == .exited(0)
}()

@Suite(
    "Processes that /proc hides",
    .blocking,
    .timeLimit(.minutes(5)),
    .enabled(if: mayHide, "mounting /proc with hidepid, or running the commands as another user, is not permitted")
)
struct HiddenProcessTests {
    @Test(
        "A hidden caller is named in the error, wherever it would be the owner",
        arguments: [
            "write jobs [1]", "own jobs", "write --owner $$ jobs [1]", "own --pid $$ jobs",
        ]
    )
    func isSaid(_ words: String) throws {
        let root = try TemporaryRoot()
        // "|| exit" keeps the shell as the parent.
        let result = try hidden(CommandRunner(root: root.path), "echo $$; $as space \(words) || exit $?")
        #expect(result.ending == .exited(64), "\(result.errors)")
        let caller = try #require(result.lines.first)
        #expect(result.errors.contains("process \(caller)"), "\(result.errors)")
        #expect(result.errors.contains("/proc doesn't show it"), "\(result.errors)")
        #expect(result.errors.contains("without hidepid"), "\(result.errors)")
        for untrue in ["--owner none nobody", "has exited", "there is none"] {
            #expect(!result.errors.contains(untrue), "\(result.errors)")
        }
    }

    @Test("With an owner of its own, or none, the other user works as usual")
    func works() throws {
        let root = try TemporaryRoot()
        let result = try hidden(
            CommandRunner(root: root.path),
            """
            $as space write --persistent jobs [1] && $as space write jobs [2] && $as space count jobs && $as space delete jobs
            $as sh -c "space write jobs [1] && space take jobs [1]"
            """
        )
        #expect(result.ending == .exited(0) && result.lines == ["2", "[1]"], "\(result.output)\(result.errors)")
    }
}
