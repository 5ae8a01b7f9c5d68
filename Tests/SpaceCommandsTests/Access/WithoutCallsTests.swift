import SpaceTestSupport
import SpaceTesting
import Testing

/// Containers' seccomp profiles refuse system calls with EPERM or ENOSYS: each call has a fallback, or an error that
/// names it.
@Suite("Refused system calls", .blocking, .timeLimit(.minutes(5)))
struct WithoutCallsTests {
    /// Runs a shell script whose commands are refused some system calls.
    private func shell(_ runner: CommandRunner, without calls: String, _ error: String, _ script: String) throws
        -> CommandResult
    {
        try runner.start("space-without-calls", [error, calls, "--", "/bin/sh", "-c", script]).finish()
    }

    /// Without these calls everything works; some things happen later, at a tick.
    private static let optional =
        "pidfd_open,pidfd_send_signal,renameat2,inotify_init1,inotify_add_watch,inotify_rm_watch,eventfd2,timerfd_create,"
        + "timerfd_settime,sched_getaffinity,madvise,statx,prlimit64,memfd_create,copy_file_range,membarrier,socketpair,mlock"

    @Test("The commands work without optional calls", arguments: ["EPERM", "ENOSYS"])
    func fallbacks(_ error: String) throws {
        try withRoot { (runner) throws in
            let result = try shell(
                runner,
                without: Self.optional,
                error,
                """
                export SHARED_SPACE_OWNER=$$
                space write jobs '["a", 1]' || echo write $?
                space take jobs '["job", "?int"]' --wait & taker=$!
                space watch jobs --max 1 > /dev/null & watcher=$!
                until space show jobs --json | grep -q '"waiters":\\[{'; do :; done
                until space show jobs --json | grep -q '"watchers":\\[{'; do :; done
                space write jobs '["job", 1]' || echo write $?
                wait $taker || echo take $?
                wait $watcher || echo watch $?
                space eval jobs -- echo '["made", 2]' || echo eval $?
                space lock jobs l -- space claim jobs '["made", 2]' -- cat || echo claim $?
                """
            )
            #expect(result.output == "[\"job\",1]\n[\"made\",2]\n", "\(result.output)\(result.errors)")
            // The owner has exited.
            #expect(try runner.space("list").output == "")
        }
    }

    @Test(
        "The error names a call that is needed",
        arguments: [("fallocate", 74), ("fstatfs", 74), ("prctl", 126)],
        ["EPERM", "ENOSYS"]
    )
    func refusals(_ call: (name: String, status: Int32), _ error: String) throws {
        try withRoot { (runner) throws in
            let keeper = try runner.start("/bin/cat", [])
            if call.name == "prctl" { try runner.space("own", "jobs", "--pid", "\(keeper.pid)") }
            let result = try shell(runner, without: call.name, error, "space lock jobs l -- true; echo $?")
            #expect(result.output == "\(call.status)\n", "\(result.errors)")
            #expect(result.errors.contains("refuses the system call \(call.name)"), "\(result.errors)")
        }
    }
}
