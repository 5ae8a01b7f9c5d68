import ArgumentParser
import SharedSpace

/// The command `space metrics`.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print the state of the namespaces as metrics.",
        discussion: """
            Prints the text form of OpenMetrics, of one namespace or of all; each metric's HELP line says what it is. Nothing is \
            measured between two calls: it costs nothing to those that don't look. A namespace that can't be looked at has the \
            sample up 0, is named on standard error, and the status is 74.

            For Prometheus: write the file of node_exporter's textfile collector from a timer, or answer over HTTP with the \
            socket unit in tools/systemd, which runs the command with --http for each request (GET /metrics).

            EXAMPLES:
              space metrics
              space metrics jobs | grep waiters
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "Read a request of HTTP from standard input, and answer it.")
    var http = false

    @Argument(help: ArgumentHelp("The namespace; without it all.", valueName: "ns"), completion: .namespaces)
    var namespace: String?

    func run() throws {
        guard http else {
            let (text, failure) = try metrics()
            try Output.print(text: text)
            if let failure { throw CommandFailure(ExitStatus(failure.code), nil) }
            return
        }
        guard let (method, path) = try HTTPRequest.read() else {
            return try Output.print(text: HTTPRequest.answer("400 Bad Request", body: "this is no request of HTTP/1\n"))
        }
        guard path == "/metrics" || path == "/" else {
            return try Output.print(text: HTTPRequest.answer("404 Not Found", body: "the metrics are at /metrics\n"))
        }
        guard method == "GET" else {
            return try Output.print(text: HTTPRequest.answer("405 Method Not Allowed", body: "use GET\n"))
        }
        try Output.print(
            text: HTTPRequest.answer("200 OK", type: MetricsReport.mediaType, body: try metrics().text)
        )
    }

    /// The text, and the first failure of a look, which standard error tells.
    private func metrics() throws -> (text: String, failure: SpaceError?) {
        var report = MetricsReport()
        if let namespace {
            report.add(namespace, try NamespaceAccess(common, namespace).use { try $0.status() })
            report.addDeadlocks(spansAll: false)
            return (report.text, nil)
        }
        let space = try common.space(mustExist: true)
        var failure: SpaceError?
        try space.look(at: space.survey().names) { (name, result) in
            switch result {
            case .success(let status): report.add(name, status)
            case .failure(let error):
                Messages.print("space: \(error)")
                failure = failure ?? error
                report.add(name, nil)
            }
        }
        report.addDeadlocks(spansAll: true)
        return (report.text, failure)
    }
}
