import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The commands that look at everything: `stats`, `metrics` and `top`.
@Suite("Looking at namespaces", .blocking, .timeLimit(.minutes(5)))
struct LookingCommandTests {
    /// Runs Python with the text as its input, and returns what it prints.
    private func python(_ runner: CommandRunner, _ script: String, _ input: String) throws -> String {
        let result = try runner.start("/usr/bin/env", ["python3", "-c", script]).finish(input: input)
        #expect(result.ending == .exited(0), "\(result.errors)")
        return result.output
    }

    // MARK: stats

    @Test("stats counts tuples by first field, cells by the first part of their keys, and the changes that are kept")
    func statistics() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", #"["job",1]"#, #"["job",2]"#, #"["job",2.5]"#, "[7,null]")
            try runner.space("write", "n", #"{"kind":"file","path":"a"}"#, #"{"kind":"file","path":"bb"}"#)
            for key in ["cfg.host", "cfg.port", "member/1", "plain"] { try runner.space("set", "n", key, "1") }
            let watcher = try runner.start("space", ["watch", "n", "--subscription", "s", "--max", "1"])
            #expect(try eventually { try runner.space("show", "n").output.contains("1 watcher") })
            watcher.signal(SIGTERM)
            _ = try watcher.finish()
            try runner.space("write", "n", #"["late"]"#)

            let result = try runner.space("stats", "n", "--json")
            #expect(result.ending == .exited(0), "\(result.errors)")
            let statistics = try Value(json: result.output)
            func groups(_ name: String) -> [String: Value] {
                Dictionary(
                    (statistics[name]?.array ?? []).compactMap { group in
                        group["shape"]?.string.flatMap { shape in group["count"].map { (shape, $0) } }
                    },
                    uniquingKeysWith: { first, _ in first }
                )
            }
            #expect(
                groups("tuples") == [
                    #"["job",int]"#: 2, #"["job",double]"#: 1, "[int,null]": 1, #"{"kind":"file","path"}"#: 2,
                    #"["late"]"#: 1,
                ]
            )
            #expect(groups("cells") == ["cfg.*": 2, "member/*": 1, "plain": 1])
            #expect(statistics["journal"]?["changes"] == 1)
            #expect(statistics["journal"]?["watchers"]?.array?.first?["subscription"] == "s")
            #expect(statistics["journal"]?["watchers"]?.array?.first?["behind"] == 1)
            for size in ["bytes", "disk", "limit"] {
                guard case .int(let bytes)? = statistics[size] else {
                    Issue.record("no \(size)")
                    continue
                }
                #expect(bytes > 4096)
            }
            let text = try runner.space("stats", "n").output
            for part in ["changes kept", "COUNT", #"["job",int]"#, "cfg.*", "BEHIND", "tables"] {
                #expect(text.contains(part), "\(part)")
            }
            try runner.space("delete", "n")
        }
    }

    @Test("Groups beyond the limit are counted together")
    func manyGroups() throws {
        try withRoot { (runner) throws in
            let count = 4200
            let tuples = (0..<count).map { "[\"\($0)\"]\n" }.joined()
            try runner.space("write", "--persistent", "n", "-", input: tuples)
            let groups = try Value(json: try runner.space("stats", "n", "--json").output)["tuples"]?.array ?? []
            #expect(groups.count == 4097)
            #expect(groups.first?["shape"] == .null)
            #expect(groups.first?["count"] == 104)
            #expect(try runner.space("stats", "n").output.contains("and 4077 more: --json has all"))
            try runner.space("delete", "n")
        }
    }

    // MARK: metrics

    /// Checks the text by the rules of OpenMetrics that matter to a scraper, and prints `name{labels} value` for each.
    private static let check = #"""
        import re, sys
        text = sys.stdin.read()
        assert text.endswith("# EOF\n"), "end"
        known, last = {}, None
        for line in text.splitlines()[:-1]:
            if line.startswith("# "):
                _, word, name, rest = line.split(" ", 3)
                assert word in ("TYPE", "UNIT", "HELP"), line
                if word == "TYPE":
                    assert name not in known, "twice: " + line
                    known[name] = rest
                    last = name
                assert name == last, line
                if word == "UNIT": assert name.endswith("_" + rest), line
                continue
            found = re.fullmatch(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? ([0-9.]+)', line)
            assert found, line
            name = found[1]
            if known[last] == "counter":
                assert name == last + "_total", line
            elif known[last] == "histogram":
                assert name in [last + end for end in ("_bucket", "_sum", "_count")], line
            else:
                assert name == last, line
            print(line)
        """#

    @Test("metrics are OpenMetrics, of one namespace or all, with names escaped")
    func metrics() throws {
        try withRoot { (runner) throws in
            let odd = "a\"b\\c"
            try runner.space("write", "--persistent", odd, "[1]", "[2]")
            try runner.space("write", "--persistent", "n", "[1]")
            try runner.space("set", "n", "k", "1")
            try runner.space("queue", "n", "mail", "put", "\"x\"")
            let lock = try runner.start("space", ["lock", "n", "l", "--", "sh", "-c", "echo held; read go"])
            #expect(try lock.readLine() == "held")
            let waiter = try runner.start("space", ["take", "n", "[\"none\"]", "--wait"])
            #expect(try eventually { try runner.space("show", "n").output.contains("1 waiter") })
            let result = try runner.space("metrics")
            #expect(result.ending == .exited(0), "\(result.errors)")
            let samples = try python(runner, Self.check, result.output).split(separator: "\n").map(String.init)
            for sample in [
                #"shared_space_up{namespace="n"} 1"#, #"shared_space_tuples{namespace="a\"b\\c"} 2"#,
                #"shared_space_cells{namespace="n"} 1"#, #"shared_space_waiters{namespace="n",kind="tuple"} 1"#,
                #"shared_space_held{namespace="n",kind="lock"} 1"#, #"shared_space_deadlocks{namespace="n"} 0"#,
                #"shared_space_queue_items{namespace="n",queue="mail",state="ready"} 1"#,
            ] {
                #expect(samples.contains(sample), "\(sample)\n\(result.output)")
            }
            let one = try runner.space("metrics", "n").output
            #expect(try python(runner, Self.check, one).contains("shared_space_tuples{namespace=\"n\"} 1"))
            #expect(!one.contains("b\\\\c"))
            #expect(try runner.space("metrics", "nope").status == 69)
            try lock.send("go\n")
            waiter.signal(SIGTERM)
            for command in [lock, waiter] { _ = try command.finish() }
            for name in ["n", odd] { try runner.space("delete", name) }
        }
    }

    @Test("top prints each look as one JSON object")
    func topAsJSON() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]", "[2]")
            let lock = try runner.start("space", ["lock", "n", "l", "--", "sh", "-c", "echo held; read go"])
            #expect(try lock.readLine() == "held")
            let waiter = try runner.start("space", ["take", "n", "[\"none\"]", "--wait"])
            #expect(try eventually { try runner.space("show", "n").output.contains("1 waiter") })
            let result = try runner.space("top", "--json", "--max", "2", "--interval", "100ms")
            #expect(result.ending == .exited(0), "\(result.errors)")
            let lines = result.output.split(separator: "\n")
            #expect(lines.count == 2)
            let look = try Value(json: String(try #require(lines.last)))
            let namespace = try #require(look["namespaces"]?.array?.first)
            #expect(namespace["name"] == "n" && namespace["tuples"] == 2 && namespace["held"] == 1)
            #expect(namespace["rate"] == 0 && namespace["waiters"] == 1 && namespace["deadlocks"]?.array == [])
            let processes = look["processes"]?.array ?? []
            let holder = processes.first { $0["holds"]?.array == ["lock l"] }
            #expect(holder?["state"] == "runs")
            #expect(processes.contains { $0["waits_for"]?.array == ["tuple [\"none\"]"] })
            try lock.send("go\n")
            waiter.signal(SIGTERM)
            for command in [lock, waiter] { _ = try command.finish() }
            try runner.space("delete", "n")
        }
    }

    @Test("A namespace that can't be looked at is down, and the others are told all the same")
    func down() throws {
        try withRoot { (runner) throws in
            for name in ["whole", "broken"] { try runner.space("write", "--persistent", name, "[1]") }
            let control = "\(runner.root)/broken/control"
            #expect(try runner.shell("truncate -s 100 '\(control)'").status == 0)
            let result = try runner.space("metrics")
            #expect(result.status == 74)
            #expect(result.errors.contains("broken"))
            let samples = try python(runner, Self.check, result.output)
            #expect(samples.contains(#"shared_space_up{namespace="broken"} 0"#))
            #expect(samples.contains(#"shared_space_tuples{namespace="whole"} 1"#))
            let alone = try runner.space("metrics", "broken")
            #expect(alone.status == 74 && alone.errors.contains("broken"))
            #expect(try python(runner, Self.check, alone.output).contains(#"shared_space_up{namespace="broken"} 0"#))
            let top = try runner.space("top", "--max", "1")
            #expect(top.output.contains("can't be looked at"))
            for name in ["whole", "broken"] { try runner.space("delete", name) }
        }
    }

    @Test(
        "--http answers one request",
        arguments: [
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK"),
            ("GET / HTTP/1.0\n\n", "HTTP/1.1 200 OK"),
            ("GET /metrics?x=1 HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK"),
            ("GET /secret HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"),
            ("nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request"), ("", "HTTP/1.1 400 Bad Request"),
            ("GET /metrics HTTP/2.0\r\n\r\n", "HTTP/1.1 400 Bad Request"),
        ]
    )
    func http(_ request: String, _ status: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let result = try runner.space("metrics", "--http", input: request)
            #expect(result.ending == .exited(0), "\(result.errors)")
            let script = #"""
                import sys
                data = sys.stdin.buffer.read()
                head, body = data.split(b"\r\n\r\n", 1)
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
                assert int(fields["Content-Length"]) == len(body), fields
                print(head.decode().split("\r\n")[0], fields["Content-Type"])
                """#
            let answer = try python(runner, script, result.output)
            #expect(answer.hasPrefix(status), "\(answer)")
            if status.contains("200") { #expect(answer.contains("application/openmetrics-text")) }
            try runner.space("delete", "n")
        }
    }

    @Test("Each metric of the dashboard is one that there is, and each one that there is is on it")
    func dashboard() throws {
        try withRoot { (runner) throws in
            let names = try python(
                runner,
                #"""
                import json, re
                text = json.dumps(json.load(open("\#(Repository.folder)/tools/grafana/shared-space.json"))["panels"])
                print("\n".join(sorted(set(re.findall(r"shared_space_\w+", text)))))
                """#,
                ""
            ).split(separator: "\n").map(String.init)
            #expect(names.count > 15)
            try runner.space("write", "--persistent", "n", "[1]")
            try runner.space("queue", "n", "mail", "put", "\"x\"")
            let holder = try runner.start("space", ["lock", "n", "l", "--", "sh", "-c", "echo held; read go"])
            #expect(try holder.readLine() == "held")
            let waiter = try runner.start("space", ["lock", "n", "l", "--", "true"])
            #expect(try eventually { try runner.space("show", "n").output.contains("1 waiter") })
            try runner.space("metrics", "n", "--latency", "on")
            let metrics = try runner.space("metrics").output
            for name in names { #expect(metrics.contains("\n\(name){") || metrics.contains("\n\(name) "), "\(name)") }
            for line in metrics.split(separator: "\n") where line.hasPrefix("# TYPE ") {
                let family = line.split(separator: " ")[2]
                #expect(names.contains { $0.hasPrefix(family) }, "\(family)")
            }
            try holder.send("go\n")
            for command in [holder, waiter] { _ = try command.finish() }
            try runner.space("delete", "n")
        }
    }

    // MARK: top

    @Test("Without a terminal, top prints one look after another")
    func plainTop() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            try runner.space("write", "--persistent", "more", "[1]", "[2]")
            let lock = try runner.start("space", ["lock", "n", "l", "--", "sh", "-c", "echo held; read go"])
            #expect(try lock.readLine() == "held")
            let waiter = try runner.start("space", ["lock", "n", "l", "--", "true"])
            #expect(try eventually { try runner.space("show", "n").output.contains("1 waiter") })
            let result = try runner.space("top", "--max", "2", "--interval", "100ms", "--sort", "tuples")
            #expect(result.ending == .exited(0), "\(result.errors)")
            let looks = result.output.split(separator: "NAMESPACE  TUPLES")
            #expect(looks.count == 2)
            #expect(!result.output.contains("\u{1B}"))
            let last = looks.last ?? ""
            let place = (more: last.firstRange(of: "\nmore "), few: last.firstRange(of: "\nn "))
            if let more = place.more, let few = place.few {
                #expect(more.lowerBound < few.lowerBound)
            } else {
                Issue.record("a namespace is missing: \(last)")
            }
            let lines = last.split(separator: "\n")
            #expect(lines.contains { $0.hasPrefix("\(lock.pid) ") && $0.contains("lock l") && $0.contains("sh -c") })
            #expect(lines.contains { $0.hasPrefix("\(waiter.pid) ") && $0.contains("true (space lock)") })
            waiter.signal(SIGSTOP)
            let states = try runner.space("top", "n", "--max", "1").lines
            #expect(states.contains { $0.hasPrefix("\(waiter.pid) ") && $0.contains("stopped") }, "\(states)")
            #expect(!states.contains { $0.hasPrefix("more ") })
            waiter.signal(SIGCONT)
            try lock.send("go\n")
            for command in [lock, waiter] { _ = try command.finish() }
            for name in ["n", "more"] { try runner.space("delete", name) }
        }
    }

    /// Runs a command on a terminal of 100 columns and 30 rows: waits for a text, sends a key, and prints the rest.
    private static let terminal = #"""
        import fcntl, os, pty, struct, sys, termios
        wanted, key = sys.argv[1].encode(), sys.argv[2].encode()
        pid, terminal = pty.fork()
        if pid == 0: os.execvp(sys.argv[3], sys.argv[3:])
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        data = b""
        sent = False
        while True:
            try: more = os.read(terminal, 65536)
            except OSError: break
            if not more: break
            data += more
            if wanted in data and not sent:
                os.write(terminal, key)
                sent = True
        status = os.waitpid(pid, 0)[1]
        print(repr(data.decode()), "sent" if sent else "not sent", os.waitstatus_to_exitcode(status))
        """#

    @Test("On a terminal, top fills the screen, ends with q, and gives the screen back", arguments: ["q", "\u{3}"])
    func screen(_ key: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let words = ["-c", Self.terminal, "q ends", key, "space", "top", "--interval", "1h"]
            let result = try runner.start("/usr/bin/env", ["python3"] + words).finish()
            #expect(result.ending == .exited(0), "\(result.errors)")
            #expect(result.output.contains(#"\x1b[?1049h"#) && result.output.contains(#"\x1b[?25h\x1b[?1049l"#))
            #expect(result.output.contains("NAMESPACE  TUPLES"))
            #expect(result.output.hasSuffix(key == "q" ? "sent 0\n" : "sent -2\n"), "\(result.output)")
            try runner.space("delete", "n")
        }
    }

    @Test(
        "Bad options are usage",
        arguments: [["--max", "0"], ["--interval", "1ms"], ["--interval", "2h"], ["--sort", "x"], ["--max", "x"]]
    )
    func usage(_ words: [String]) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let result = try runner.start("space", ["top"] + words).finish()
            #expect(result.status == 64, "\(result.errors)")
            #expect(try runner.space("top", "nope").status == 69)
            #expect(try runner.space("stats", "nope").status == 69)
            try runner.space("delete", "n")
        }
    }
}
