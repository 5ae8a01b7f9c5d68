import Glibc
import SpaceSystem
import SystemPackage

/// How a child process ended.
package enum Ending: Hashable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    package init(waitStatus: Int32) {
        // wait(2): the low seven bits hold the signal, the next byte the status.
        self = waitStatus & 0x7F == 0 ? .exited((waitStatus >> 8) & 0xFF) : .signalled(waitStatus & 0x7F)
    }

    package var description: String {
        switch self {
        case .exited(let status): "status \(status)"
        case .signalled(let number): "signal \(number)"
        }
    }
}

/// The result of a command that has ended.
package struct CommandResult: Sendable {
    package let output: String
    package let errors: String
    package let ending: Ending

    /// The status, or 128 + the signal, as a shell says it.
    package var status: Int32 {
        switch ending {
        case .exited(let status): status
        case .signalled(let number): 128 + number
        }
    }

    /// The lines of standard output.
    package var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Runs the package's executables as real processes, with a root of their own.
package struct CommandRunner: Sendable {
    /// Given to the children as `SHARED_SPACE_ROOT`.
    package let root: String

    package init(root: String) {
        self.root = root
        _ = Self.brokenPipesAreErrors
        _ = Self.nothingIsInherited
        _ = Self.dumpIsLinked
    }

    /// Makes `space-dump` beside `space`, a link to it as where they are installed.
    ///
    /// The package manager can't make one. The link takes the place of what an earlier build has left there.
    private static let dumpIsLinked: Void = {
        let link = path("space-dump")
        var target = [CChar](repeating: 0, count: 16)
        if readlink(link, &target, target.count - 1) > 0, target.prefix(6) == [115, 112, 97, 99, 101, 0] { return }
        // Several test processes may come here at once: each makes a link of its own, and the last stays.
        let own = "\(link).\(getpid())"
        if symlink("space", own) != 0 || rename(own, link) != 0 { unlink(own) }
    }()

    /// Writing to a child that has exited must fail a test, and not end the test process.
    private static let brokenPipesAreErrors: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    /// A child must not have the descriptors that the test process has from its own parent, such as the test runner's
    /// pipes: a test that limits a child's descriptors would depend on how the tests were started.
    private static let nothingIsInherited: Void = {
        guard let folder = try? OwnedDescriptor.open("/proc/self/fd", flags: O_RDONLY | O_DIRECTORY),
            let names = try? Directory.list(folder.raw)
        else { return }
        for descriptor in names.compactMap(CInt.init) where descriptor > STDERR_FILENO {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }()

    /// The folder in which the build puts the executables and the tests' bundle.
    package static let products: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let path = FilePath(String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self))
        return path.removingLastComponent().string
    }()

    package static func path(_ executable: String) -> String { "\(products)/\(executable)" }

    /// Runs `space` to its end.
    @discardableResult
    package func space(
        _ arguments: String...,
        input: String = "",
        environment: [String: String] = [:]
    ) throws -> CommandResult {
        try start("space", arguments, environment: environment).finish(input: input)
    }

    /// Runs `space-dump` to its end.
    @discardableResult
    package func dump(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandResult {
        try start("space-dump", arguments, environment: environment).finish()
    }

    /// Runs a shell script to its end; `space` and `space-dump` are on its PATH.
    @discardableResult
    package func shell(_ script: String, input: String = "", environment: [String: String] = [:]) throws
        -> CommandResult
    {
        try start("/bin/sh", ["-c", script], environment: environment).finish(input: input)
    }

    /// Starts a program with pipes on its three standard descriptors, in a session of its own.
    package func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> RunningCommand {
        var variables = [
            "SHARED_SPACE_ROOT": root, "PATH": "\(Self.products):/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C",
        ]
        variables.merge(environment) { $1 }
        let path = program.hasPrefix("/") ? program : Self.path(program)
        return try RunningCommand(path, arguments, variables.map { "\($0)=\($1)" })
    }
}
