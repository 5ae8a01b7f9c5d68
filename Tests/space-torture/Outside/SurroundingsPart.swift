import Glibc
import SharedSpace
import SpaceTestSupport

/// The core of the demo (write, a blocked take, watch, an owner killed, reaped) in surroundings that differ: a
/// container's seccomp profile, kernel namespaces, a masked /proc, limits, small and read-only file systems, signals,
/// umasks, closed descriptors, clocks.
///
/// Each cell works, or is refused by a command's status and a sentence that says what is missing: no signal, no hang,
/// nothing left behind. Surroundings that this machine can't arrange are reported as skipped.
struct SurroundingsPart {
    let options: Options

    func run() -> Report {
        Rounds(part: .surroundings, options: options).report([
            .init("optionalCalls", optionalCalls), .init("neededCalls", neededCalls), .init("namespaces", namespaces),
            .init("bootID", bootID), .init("hiddenProcesses", hiddenProcesses), .init("noProc", noProc),
            .init("addressSpace", addressSpace), .init("descriptors", descriptors), .init("fileSize", fileSize),
            .init("processes", processes), .init("smallDisk", smallDisk), .init("readOnly", readOnly),
            .init("relativeRoot", relativeRoot), .init("signals", signals), .init("umask", umask),
            .init("closedDescriptors", closedDescriptors), .init("clocks", clocks), .init("otherClock", otherClock),
        ])
    }

    // MARK: The essence

    /// Ends with the status of the first command that fails.
    private static let essence = """
        try() { "$@"; s=$?; [ $s = 0 ] || { echo "status $s: $*" >&2; exit $s; }; }
        export SHARED_SPACE_OWNER=$$
        try space write n '["a",1]'
        space take n '["job","?int"]' --wait "$PATIENCE" & taker=$!
        space watch n '["job","?int"]' --events write --max 1 --wait "$PATIENCE" > /dev/null & watcher=$!
        looks=0
        while :; do
            shown=$(space show n --json) || exit $?
            case "$shown" in *'"waiters":[{'*'"watchers":[{'*) break;; esac
            looks=$((looks + 1)); [ $looks -lt 1000 ] || { echo "nothing waits" >&2; exit 90; }
            # One of them was refused.
            kill -0 $taker 2> /dev/null || { wait $taker; exit $?; }
            kill -0 $watcher 2> /dev/null || { wait $watcher; exit $?; }
        done
        try $WRITE space write n '["job",1]'
        try wait $taker
        try wait $watcher
        sh -c 'export SHARED_SPACE_OWNER=$$; space write gone "[1]"; kill -9 $$' 2> /dev/null
        [ "$(space list)" = n ] || { echo "reaping" >&2; exit 91; }
        find "$SHARED_SPACE_ROOT" -mindepth 1 -perm /077
        try space delete n
        """

    private static let right = "[\"job\",1]\n"

    private enum Verdict {
        case right
        /// Refused, with these words somewhere in the output.
        case refused(String)
        /// Works, or is refused with one of these words.
        case either([String])
    }

    /// The commands that the essence runs in any surroundings.
    private var variables: [String: String] {
        [
            "ESSENCE": Self.essence, "PATIENCE": options.isToFail ? "\(options.patience)" : "60",
            // A write that is acknowledged and never made.
            "WRITE": options.plant == .lost ? "true" : "",
        ]
    }

    /// Runs a script, which ends by running the essence.
    private func play(
        _ round: Round,
        _ script: String,
        _ verdict: Verdict = .right,
        shellMayFail words: String? = nil
    ) throws {
        let result = try CommandRunner(root: round.root.path)
            .start("/bin/sh", ["-c", script], environment: variables).finish()
        let text = "\(script.suffix(160)): \(result.ending), said \(result.output)\(result.errors.suffix(400))"
        // util-linux: these tools name the missing permission themselves.
        for tool in ["unshare: ", "mount: ", "setpriv: "] where result.errors.contains(tool) {
            throw Rounds.Skipped(reason: String(result.errors.suffix(200)))
        }
        if let words, result.errors.contains(words), case .exited = result.ending { return }
        let isRight = result.ending == .exited(0) && result.output == Self.right
        let isRefusal: Bool
        if case .exited(let status) = result.ending, (64...77).contains(status) {
            isRefusal = result.errors.contains("space: ") && !result.errors.contains("Fatal error")
        } else {
            isRefusal = false
        }
        switch verdict {
        case .right: round.check(isRight, text)
        case .refused(let words): round.check(isRefusal && result.errors.contains(words), text)
        case .either(let words):
            round.check(isRight || isRefusal && words.contains { result.errors.contains($0) }, text)
        }
    }

    private static let run = "exec sh -c \"$ESSENCE\""

    // MARK: System calls

    private static let optional = [
        "pidfd_open", "pidfd_send_signal", "renameat2", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
        "eventfd2", "timerfd_create", "timerfd_settime", "sched_getaffinity", "madvise", "statx", "prlimit64",
        "memfd_create", "copy_file_range", "membarrier", "rseq", "set_robust_list", "sched_yield", "getrandom", "prctl",
        "socketpair", "setpriority",
    ]

    private func optionalCalls(_ round: Round) throws {
        let calls = Set((0..<round.random(1..<6)).map { _ in round.one(of: Self.optional) }).sorted()
        let error = round.one(of: ["EPERM", "ENOSYS"])
        try play(round, "exec space-without-calls \(error) \(calls.joined(separator: ",")) -- sh -c \"$ESSENCE\"")
    }

    private func neededCalls(_ round: Round) throws {
        let call = round.one(of: ["fallocate", "fstatfs"])
        let error = round.one(of: ["EPERM", "ENOSYS"])
        try play(
            round,
            "exec space-without-calls \(error) \(call) -- sh -c \"$ESSENCE\"",
            .refused("refuses the system call \(call)")
        )
    }

    // MARK: The kernel's namespaces, and /proc

    private func namespaces(_ round: Round) throws {
        var words: [String] = []
        if round.coin() { words += ["-p", "-f", "--mount-proc"] }
        if round.coin() { words += ["-U", "-r"] }
        if round.coin() { words += ["-m"] }
        if round.coin() { words += ["-i"] }
        try play(round, "exec unshare \(words.joined(separator: " ")) sh -c \"$ESSENCE\"")
    }

    private func bootID(_ round: Round) throws {
        let isEmpty = round.coin()
        let id = isEmpty ? "" : "0f2ab6f4-1c1e-4c5f-9d0a-00000000000\(round.random(0..<10))"
        let script = """
            printf '\(isEmpty ? "" : "%s\\n")' '\(id)' > "$SHARED_SPACE_ROOT/.boot-id"
            export BIND=$SHARED_SPACE_ROOT/.boot-id
            chmod 600 "$BIND"
            exec unshare -m sh -c 'mount --bind "$BIND" /proc/sys/kernel/random/boot_id && exec sh -c "$ESSENCE"'
            """
        try play(round, script, isEmpty ? .refused("boot") : .right)
    }

    /// A folder of another user's in the root, which the check at the round's end skips.
    private static let asAnother = """
        mkdir -m 700 "$SHARED_SPACE_ROOT/.another" && chown 61001:61001 "$SHARED_SPACE_ROOT/.another"
        chmod 711 "$SHARED_SPACE_ROOT"
        export SHARED_SPACE_ROOT=$SHARED_SPACE_ROOT/.another
        export BECOME="setpriv --reuid 61001 --regid 61001 --clear-groups"
        $BECOME test -x "$(command -v space)" -a -x "$SHARED_SPACE_ROOT" || { echo "mount: the programs are not to be had by other users" >&2; exit 1; }

        """

    private func hiddenProcesses(_ round: Round) throws {
        let script = """
            \(Self.asAnother)exec unshare -p -f -m sh -c \
            'mount -t proc -o hidepid=2 proc /proc && exec $BECOME sh -c "$ESSENCE"'
            """
        try play(round, script)
    }

    private func noProc(_ round: Round) throws {
        try play(
            round,
            "exec unshare -m sh -c 'mount -t tmpfs tmpfs /proc && exec sh -c \"$ESSENCE\"'",
            .refused("/proc")
        )
    }

    // MARK: Limits

    private func addressSpace(_ round: Round) throws {
        // Kibibytes; below 64 GiB, and enough for the program itself.
        try play(round, "ulimit -v \(round.random(700_000..<60_000_000)); \(Self.run)", .refused("ulimit -v"))
    }

    private func descriptors(_ round: Round) throws {
        try play(round, "ulimit -n \(round.random(14..<40)); \(Self.run)", .either(["ulimit -n"]))
    }

    private func fileSize(_ round: Round) throws {
        // In blocks of 512 bytes: below 64 GiB.
        try play(round, "ulimit -f \(round.random(1000..<100_000_000)); \(Self.run)", .refused("ulimit -f"))
    }

    /// A shell that can't fork says so, and ends with a status of its own.
    private func processes(_ round: Round) throws {
        let script = "\(Self.asAnother)exec prlimit --nproc=\(round.random(1..<16)) $BECOME sh -c \"$ESSENCE\""
        try play(round, script, .either(["thread", "Resource temporarily unavailable"]), shellMayFail: "Cannot fork")
    }

    // MARK: Folders

    private func smallDisk(_ round: Round) throws {
        let (size, isFull) = (round.one(of: [8, 64]), round.coin())
        let fill = isFull ? "dd if=/dev/zero of=\"$SHARED_SPACE_ROOT/.filler\" bs=64k 2> /dev/null;" : ""
        let script = """
            exec unshare -m sh -c 'mount -t tmpfs -o mode=700,size=\(size)m tmpfs "$SHARED_SPACE_ROOT" || exit
            \(fill)chmod -f 600 "$SHARED_SPACE_ROOT/.filler"
            exec sh -c "$ESSENCE"'
            """
        // 8 MiB hold one namespace; the script has two for a while, which may not fit.
        let verdict: Verdict = isFull ? .refused("No space left") : size == 8 ? .either(["No space left"]) : .right
        try play(round, script, verdict)
    }

    private func readOnly(_ round: Round) throws {
        let script = """
            exec unshare -m sh -c 'mount --bind "$SHARED_SPACE_ROOT" "$SHARED_SPACE_ROOT" &&
            mount -o remount,bind,ro "$SHARED_SPACE_ROOT" && exec sh -c "$ESSENCE"'
            """
        try play(round, script, .refused("Read-only file system"))
    }

    private func relativeRoot(_ round: Round) throws {
        let name = round.one(of: [".", "./.r", ".r"])
        try play(
            round,
            "cd \"$SHARED_SPACE_ROOT\" && mkdir -p -m 700 .r && export SHARED_SPACE_ROOT=\(name) && \(Self.run)"
        )
    }

    private func umask(_ round: Round) throws {
        try play(round, "umask \(round.one(of: ["0", "077", "0777", "022"])); \(Self.run)")
    }

    // MARK: Signals and descriptors

    /// A signal that is handled every few milliseconds interrupts every wait in the kernel.
    private func signals(_ round: Round) throws {
        let worker = try round.player()
        let owner = try round.player("", in: "gone")
        let writer = try round.newcomer()
        try writer.run("open \(round.root.path) n")
        try worker.run("alarms \(round.random(1..<20))")
        for (number, command) in ["take-wait 60000", "take-async"].enumerated() {
            try worker.send("\(command) [\"job\", \"?int\"]")
            try round.expect(worker, says: "waiting")
            if options.plant != .lost { try writer.run("write [\"job\", \(number)]") } else { try worker.kill() }
            try round.expect(worker, says: "ok [\"job\",\(number)]")
        }
        try worker.run("watch")
        try worker.send("next-wait")
        try round.expect(worker, says: "waiting")
        try writer.run("write [\"job\", 3]")
        round.check(try worker.line()?.hasPrefix("ok write ") == true, "a watcher was told nothing")
        try owner.kill()
        try round.expect(worker, "names", "ok n")
        try round.expect(writer, "verify", "ok ")
    }

    private func closedDescriptors(_ round: Round) throws {
        let closed = ["<&-", ">&-", "2>&-"].filter { _ in round.coin() }.joined(separator: " ")
        let script = """
            export SHARED_SPACE_OWNER=$$
            $WRITE space write n '["a",1]' \(closed); echo $?
            space take n '"?"' >&- 2> /dev/null; echo $?
            space take n '"?"' <&- 2>&-; echo $?
            space count n
            """
        let result = try CommandRunner(root: round.root.path)
            .start("/bin/sh", ["-c", script], environment: variables).finish()
        round.check(
            result.output == "0\n74\n[\"a\",1]\n0\n0\n",
            "\(closed): said \(result.output)\(result.errors)"
        )
    }

    // MARK: Clocks

    /// time_namespaces(7): its clocks run at the same rate, from another moment on.
    private func clocks(_ round: Round) throws {
        let offsets = "--boottime \(round.random(-100..<1_000_000)) --monotonic \(round.random(-100..<1_000_000))"
        try play(round, "exec unshare -T \(offsets) sh -c \"$ESSENCE\"")
    }

    /// Refused while a namespace is in use under another clock, and usable when it is not.
    private func otherClock(_ round: Round) throws {
        let elsewhere = "unshare -T --boottime \(round.random(-100..<1_000_000)) --"
        let script = """
            space write n --persistent --durable --owner none '["a",1]'
            \(elsewhere) space read n '"?"' || exit
            space read n '"?"'
            space write used --owner $$ '[1]'
            \(elsewhere) space count used; echo $?
            space delete n
            """
        let result = try CommandRunner(root: round.root.path)
            .start("/bin/sh", ["-c", script], environment: variables).finish()
        if result.errors.contains("unshare: ") { throw Rounds.Skipped(reason: String(result.errors.suffix(200))) }
        round.check(
            result.output == "[\"a\",1]\n[\"a\",1]\n69\n" && result.errors.contains("time namespace"),
            "under another clock: \(result.output)\(result.errors)"
        )
    }
}
