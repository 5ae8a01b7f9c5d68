import SpaceTestSupport
import SpaceTesting
import Testing

/// Commands on a file system that has not one free block.
@Suite(
    "A full file system",
    .blocking,
    .timeLimit(.minutes(5)),
    .enabled(if: SmallTmpfs.mayMount, "mounting a small file system is not permitted")
)
struct FullDiskCommandTests {
    /// Ends with the disk full: 6 tuples of 300,000 bytes, 300 small ones.
    private static let filling = #"""
        big=$(head -c 300000 /dev/zero | tr "\0" x)
        for i in 1 2 3 4 5 6; do echo "[\"big\",$i,\"$big\"]"; done | space write jobs - || exit 8
        seq 300 | while read i; do echo "[\"small\",$i]"; done | space write jobs - || exit 8
        cat /dev/zero > "$SHARED_SPACE_ROOT/.filler" 2> /dev/null
        if echo x 2> /dev/null > "$SHARED_SPACE_ROOT/.more"; then exit 7; fi

        """#

    private func run(_ script: String) throws -> CommandResult {
        let root = try TemporaryRoot()
        return try CommandRunner(root: root.path).shell(SmallTmpfs.script("9m", Self.filling + script))
    }

    @Test("Everything stored is read, counted, shown and taken, down to nothing")
    func emptied() throws {
        let result = try run(
            #"""
            space count jobs
            space read jobs "[\"small\",3]" && space show jobs > /dev/null && space list
            space take jobs "[\"small\",1]"
            space take jobs --max 20 "[\"small\",\"?\"]" | wc -l
            space take jobs --all "[\"small\",\"?\"]" | wc -l
            space take jobs --max 2 "[\"big\",\"?\",\"?\"]" --field 1
            space take jobs --all "[\"big\",\"?\",\"?\"]" --field 1
            space count jobs
            space write jobs "[\"again\"]" && space take jobs "[\"again\"]"
            space-dump --check jobs
            """#
        )
        let expected = [
            "306", #"["small",3]"#, "jobs", #"["small",1]"#, "20", "279", "1", "2", "3", "4", "5", "6", "0",
            #"["again"]"#,
        ]
        #expect(result.lines == expected, "\(result.errors)")
        #expect(result.ending == .exited(0))
    }

    @Test("A deadlock is told")
    func deadlock() throws {
        let result = try run(
            #"""
            space history jobs 1000
            space lock jobs a -- space lock jobs a -- true &
            holder=$!
            tries=0
            until space history jobs --deadlocks | grep "waits for the lock .a. of $holder" > /dev/null; do
                tries=$((tries + 1)); test $tries -lt 600 || exit 6
                sleep 0.1
            done
            kill $holder
            wait $holder
            space history jobs --deadlocks | wc -l
            space-dump --check jobs
            """#
        )
        #expect(result.lines == ["1"] && result.ending == .exited(0), "\(result.errors)")
    }

    @Test("Waiters and owners are shown by their processes")
    func sessions() throws {
        let result = try run(
            #"""
            space take jobs --wait "[\"later\"]" &
            taker=$!
            # Other owners come too, more than any pool would have files for.
            for i in $(seq 40); do
                sleep 1000 &
                space own jobs --pid $! || exit 6
                last=$!
                all="$all $!"
            done
            while :; do
                shown=$(space show --json jobs)
                case $shown in *"\"waiters\":[{\"pid\":$taker,"*) break ;; esac
            done
            case $shown in *"{\"pid\":$last,"*) echo named ;; *) echo "$shown" ;; esac
            kill $taker $all
            wait
            """#
        )
        #expect(result.lines == ["named"], "\(result.errors)")
    }

    @Test("A namespace is deleted, and its space is free")
    func deleted() throws {
        let result = try run(
            #"""
            space delete jobs; echo $?
            space list
            space write new "[1]" && space take new "[1]"
            """#
        )
        #expect(result.lines == ["0", "[1]"], "\(result.errors)")
    }
}
