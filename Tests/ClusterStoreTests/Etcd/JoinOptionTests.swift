import Glibc
import SpaceTestSupport
import Testing

/// What `space join` says of options that can't work, before it asks an etcd; there need be none.
struct JoinOptionTests {
    @Test(arguments: [
        (["--etcd", "localhost:2379"], "neither https nor http"),
        (["--etcd", "http://a,http://a:2379"], "names http://a:2379 twice"),
        (["--etcd", "http://a", "--ca", "/none"], "--ca, --cert and --key are for https"),
        (["--etcd", "https://a", "--ca", "/none"], "--ca /none: No such file"),
        (
            ["--etcd", "https://a", "--cert", "/dev/null", "--key", "/dev/null"],
            "--cert /dev/null: it is no regular file"
        ),
        (["--etcd", "http://a", "--user", "u", "--password-file", "/proc/self/limits/x"], "--password-file"),
    ])
    func theyAreRefused(_ options: [String], _ words: String) throws {
        let root = try TemporaryRoot()
        let result = try CommandRunner(root: root.path).start("space-etcd", ["join"] + options).finish()
        #expect(result.ending == .exited(64))
        #expect(result.errors.contains("space: cannot join the cluster: "), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
    }

    /// `space` becomes the program beside it: the process stays the same one.
    @Test func spaceBecomesIt() throws {
        let root = try TemporaryRoot()
        let daemon = try CommandRunner(root: root.path).start(
            "space",
            ["join", "--etcd", "http://127.0.0.1:1", "--name", "m"]
        )
        #expect(try daemon.readErrorLine()?.hasPrefix("space: m has not joined yet: ") == true)
        var path = [CChar](repeating: 0, count: 4096)
        #expect(readlink("/proc/\(daemon.pid)/exe", &path, path.count - 1) > 0)
        #expect(
            String(decoding: path.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self) == CommandRunner.path("space-etcd")
        )
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .signalled(SIGTERM))
    }
}
