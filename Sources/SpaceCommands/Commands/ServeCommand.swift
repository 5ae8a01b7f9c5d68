import CommandWords
import Glibc

/// The command `space serve`: becomes `space-serve`, a program of its own, so that `space` carries no HTTP server.
struct ServeCommand: ParsableCommand {
    static let commandName = "serve"
    static let configuration = CommandConfiguration(
        abstract: "Show the namespaces on a web page of this machine.",
        discussion: """
            Prints the page's address, and serves it until it is ended by SIGTERM, SIGINT or SIGHUP. The page shows the \
            namespaces and their processes, who waits for whom, and a namespace's tuples, cells and changes, all of them live. \
            It changes nothing, owns nothing and creates nothing.

            It listens at 127.0.0.1 or ::1 only, and answers only processes of its own user and of root; or at a Unix socket, \
            which its user alone can open. To look from another machine: ssh -t -L 8080:127.0.0.1:8080 HOST space serve --port 8080.

            The server is the program space-serve, which 'tools/build --serve' makes. It is looked for beside this program, and \
            then in PATH.

            EXAMPLES:
              space serve
              space serve --port 8080
              space serve --socket /run/user/1000/space-page
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "<address> 127.0.0.1 or ::1 (default: 127.0.0.1).")
    var address: String?

    @Option(help: "<number> The port; 0 for a free one (default: 0).")
    var port: UInt16?

    @Option(help: "<path> Listen at a Unix socket instead.", completion: .file())
    var socket: String?

    @Option(help: "<number> How many pages may be open at once (default: 16).")
    var clients: Int?

    /// The program that this command becomes.
    private static let program = SisterProgram(name: "space-serve", build: "tools/build --serve")

    func run() throws {
        let options = [
            ("space", SisterProgram.ownPath), ("root", common.root),
            ("timeout", common.timeout.map { "\(Int($0 / .milliseconds(1)))ms" }), ("address", address),
            ("port", port.map { "\($0)" }), ("socket", socket), ("clients", clients.map { "\($0)" }),
        ]
        let words = [Self.program.name] + options.compactMap { (option, value) in value.map { "--\(option)=\($0)" } }
        var arguments = words.map { strdup($0) } + [nil]
        try Self.program.become(&arguments)
    }
}
