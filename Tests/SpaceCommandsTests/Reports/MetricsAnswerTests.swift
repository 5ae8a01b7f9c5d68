import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// What `space metrics --http` answers when a request is odd, late, or can't be fulfilled.
@Suite("Answers over HTTP", .blocking, .timeLimit(.minutes(5)))
struct MetricsAnswerTests {
    /// The head and the body of an answer.
    private func parts(_ answer: String) throws -> (head: String, body: String) {
        let end = try #require(answer.firstRange(of: "\r\n\r\n"), "\(answer)")
        return (String(answer[..<end.lowerBound]), String(answer[end.upperBound...]))
    }

    @Test("HEAD is answered as GET is, without the body", arguments: ["/metrics", "/elsewhere"])
    func head(_ path: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let get = try parts(try runner.space("metrics", "--http", input: "GET \(path) HTTP/1.1\r\n\r\n").output)
            let head = try parts(try runner.space("metrics", "--http", input: "HEAD \(path) HTTP/1.1\r\n\r\n").output)
            #expect(head.body == "" && get.body != "")
            #expect(head.head.split(separator: "\r\n").first == get.head.split(separator: "\r\n").first)
            let lengths = [head, get].map {
                $0.head.split(separator: "\r\n").filter { $0.hasPrefix("Content-Length: ") }
            }
            #expect(lengths[0].count == 1 && lengths[0] == lengths[1])
            try runner.space("delete", "n")
        }
    }

    @Test("Another method is told which ones there are")
    func method() throws {
        try withRoot { (runner) throws in
            let answer = try parts(try runner.space("metrics", "--http", input: "PUT / HTTP/1.1\r\n\r\n").output)
            #expect(answer.head.contains("\r\nAllow: GET, HEAD\r\n"))
        }
    }

    @Test("A namespace or a root that isn't there is answered with one line that says so", arguments: ["ns", "root"])
    func missing(_ what: String) throws {
        try withRoot { (runner) throws in
            let words = what == "ns" ? ["nope"] : ["--root", "\(runner.root)/nope"]
            let result = try runner.start("space", ["metrics", "--http"] + words)
                .finish(input: "GET /metrics HTTP/1.1\r\n\r\n")
            #expect(result.ending == .exited(0) && result.errors.contains("nope"))
            let answer = try parts(result.output)
            #expect(answer.head.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(
                answer.body.hasSuffix("\n") && answer.body.count { $0 == "\n" } == 1 && answer.body.contains("nope")
            )
        }
    }

    @Test("A client that sends no whole request is told so after a time", arguments: ["", "GET /metrics HTTP/1.1\r\n"])
    func silent(_ start: String) throws {
        try withRoot { (runner) throws in
            let command = try runner.start("space", ["metrics", "--http"])
            try command.send(start)
            // The input stays open.
            #expect(try command.readLine() == "HTTP/1.1 408 Request Timeout\r")
            #expect(try command.wait() == .exited(0))
        }
    }

    @Test("A client that reads nothing loses its connection after a time", arguments: ["socket", "pipe"])
    func deaf(_ kind: String) throws {
        try withRoot { (runner) throws in
            for number in 0..<8 { try runner.space("write", "--persistent", "n\(number)", "[1]") }
            let script = #"""
                import fcntl, os, socket, subprocess, sys
                here, there = socket.socketpair()
                there.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
                here.send(b"GET /metrics HTTP/1.1\r\n\r\n")
                output = there
                if sys.argv[1] == "pipe":
                    reading, output = os.pipe()
                    fcntl.fcntl(output, 1031, 4096) # F_SETPIPE_SZ
                print(subprocess.run(sys.argv[2:], stdin=there, stdout=output).returncode)
                """#
            let words = ["python3", "-c", script, kind, "space", "metrics", "--http"]
            let result = try runner.start("/usr/bin/env", words).finish()
            #expect(result.output == "74\n", "\(result.errors)")
            for number in 0..<8 { try runner.space("delete", "n\(number)") }
        }
    }
}
