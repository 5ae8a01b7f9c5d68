import SpaceTestSupport
import SpaceTesting
import Testing

/// A namespace's files that lack blocks which its processes count on, or a folder that can't be moved.
@Suite(
    "A namespace's folder restored or mounted over",
    .blocking,
    .timeLimit(.minutes(5)),
    .enabled(if: SmallTmpfs.mayMount, "mounting a small file system is not permitted")
)
struct RestoredTests {
    private func run(_ script: String) throws -> CommandResult {
        let root = try TemporaryRoot()
        return try CommandRunner(root: root.path).shell(SmallTmpfs.script("24m", script))
    }

    @Test(
        "A backup copied over the files, then a full disk: an error, no signal, and all data once there is space again",
        arguments: ["", "--guarded", "--durable"]
    )
    func restoredInPlace(_ mode: String) throws {
        let result = try run(
            #"""
            space write jobs --persistent \#(mode) "[\"a\",1]" "[\"a\",2]" || exit 8
            backup=$(mktemp -d) && cp -a --sparse=always "$SHARED_SPACE_ROOT/jobs" "$backup" || exit 8
            space take jobs "[\"a\",1]"
            cp -a --sparse=always "$backup/jobs/." "$SHARED_SPACE_ROOT/jobs/" && rm -r "$backup" || exit 8
            cat /dev/zero > "$SHARED_SPACE_ROOT/.filler" 2> /dev/null
            for command in "read jobs [\"a\",1]" "write jobs [\"b\"]" "take jobs [\"a\",\"?\"]" \
                "take jobs [\"z\"] --wait 50ms"
            do
                space $command > "$SHARED_SPACE_ROOT.out" 2>&1
                echo $?
            done
            rm "$SHARED_SPACE_ROOT.out" "$SHARED_SPACE_ROOT/.filler"
            space read jobs "[\"a\",1]" && space write jobs "[\"b\"]" && space-dump --check jobs
            """#
        )
        var lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.removeFirst() == "[\"a\",1]", "\(result.output)\(result.errors)")
        for status in lines.prefix(4) {
            #expect(["0", "1", "74"].contains(status), "\(result.output)\(result.errors)")
        }
        #expect(lines.dropFirst(4).first == "[\"a\",1]", "\(result.output)\(result.errors)")
        #expect(result.ending == .exited(0), "\(result.output)\(result.errors)")
    }

    @Test("A namespace that can't be moved to the graveyard stays as it is")
    func failedDeletion() throws {
        let result = try run(
            #"""
            space write jobs "[\"kept\"]" || exit 8
            mount --bind "$SHARED_SPACE_ROOT/jobs" "$SHARED_SPACE_ROOT/jobs" || exit 9
            space delete jobs; echo $?
            space read jobs "[\"kept\"]"; space list
            umount "$SHARED_SPACE_ROOT/jobs"
            space delete jobs; echo $?
            """#
        )
        #expect(result.output == "74\n[\"kept\"]\njobs\n0\n", "\(result.output)\(result.errors)")
    }
}
