import ArgumentParser
import Glibc

/// The command line of `space-serve`; people run `space serve`, whose help explains it.
struct ServeOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "space-serve",
        abstract: "The page of 'space serve', which starts this program: see 'space help serve'."
    )

    static var _errorPrefix: String { "space-serve: " }

    @Option(help: "The program 'space' that looks at the namespaces (default: the one beside this, else in PATH).")
    var space: String?

    @Option(help: "The space's root folder.")
    var root: String?

    @Option(help: "How long a look waits for a lock that another process holds.")
    var timeout: String?

    @Option(help: "127.0.0.1 or ::1.")
    var address: String?

    @Option(help: "The port; 0 for a free one.")
    var port: UInt16?

    @Option(help: "Listen at a Unix socket instead.")
    var socket: String?

    @Option(help: "How many pages may be open at once.")
    var clients = 16

    func validate() throws {
        guard (1...64).contains(clients) else { throw ValidationError("--clients is a number from 1 to 64") }
        _ = try place
    }

    /// Where the server listens.
    var place: ListeningPlace {
        get throws {
            if let socket {
                guard address == nil, port == nil else {
                    throw ValidationError("--socket excludes --address and --port")
                }
                guard let place = ListeningPlace(socket: socket) else {
                    throw ValidationError("--socket needs a path of 1 to \(ListeningPlace.longestPath) bytes")
                }
                return place
            }
            guard let place = ListeningPlace(address: address ?? "127.0.0.1", port: port ?? 0) else {
                throw ValidationError(
                    "--address is 127.0.0.1 or ::1: the page shows all that the namespaces hold, so it is for this "
                        + "machine only; from another one: ssh -L"
                )
            }
            return place
        }
    }

    /// The options of `space` that this command got for it.
    var commonWords: [String] {
        (root.map { ["--root=\($0)"] } ?? []) + (timeout.map { ["--timeout=\($0)"] } ?? [])
    }
}
