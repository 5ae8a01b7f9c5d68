import SpaceTestSupport
import SpaceTesting
import Testing

/// Runs a script whose root lies on a ramfs, which has no fallocate(2).
private func onRamfs(_ script: String) throws -> CommandResult {
    let root = try TemporaryRoot()
    return try CommandRunner(root: root.path).shell(
        """
        exec unshare --mount --propagation private sh -c '
        mount -t ramfs ramfs "$SHARED_SPACE_ROOT" && chmod 700 "$SHARED_SPACE_ROOT" || exit 9
        \(script)
        '
        """
    )
}

private let mayMount = (try? onRamfs("true"))?.ending == .exited(0)

@Suite(
    "A file system that reserves no blocks",
    .blocking,
    .timeLimit(.minutes(5)),
    .enabled(if: mayMount, "mounting a ramfs is not permitted")
)
struct WithoutBlocksTests {
    @Test("The error names the call, the file system and the remedy", arguments: ["", "--guarded", "--durable"])
    func isNamed(_ mode: String) throws {
        let result = try onRamfs(
            "space write jobs --persistent \(mode) [1]; echo $?; ls -A \"$SHARED_SPACE_ROOT/.nursery\""
        )
        #expect(result.output == "74\n", "\(result.errors)")
        for words in ["fallocate", "ramfs", "use a root on another file system"] {
            #expect(result.errors.contains(words), "\(result.errors)")
        }
    }
}
