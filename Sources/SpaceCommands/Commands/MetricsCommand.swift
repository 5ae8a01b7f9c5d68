import CommandWords
import SharedSpace
import SpaceInspection

/// The command `space metrics`.
struct MetricsCommand: ParsableCommand {
    static let commandName = "metrics"
    static let configuration = CommandConfiguration(
        abstract: "Print the state of the namespaces as metrics.",
        discussion: """
            Prints the text form of OpenMetrics, of one namespace or of all; each metric's HELP line says what it is. Nothing is \
            measured between two calls: it costs nothing to those that don't look. A namespace that can't be looked at has the \
            sample up 0, is named on standard error, and the status says why: 74, 75, 77.

            For Prometheus: write the file of node_exporter's textfile collector from a timer, or answer over HTTP with the \
            socket unit in tools/systemd, which runs the command with --http for each request (GET /metrics). If the state can't \
            be looked at, the answer is 503 with the reason. A client has 5 seconds to send its request, and 10 to read the answer.

            With --latency on, the processes of a namespace measure from then on how long each wait for a tuple lasts, and how \
            long a tuple takes to its taker: two histograms. --latency off ends that, and forgets them.

            EXAMPLES:
              space metrics
              space metrics jobs | grep waiters
              space metrics jobs --latency on
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "Read a request of HTTP from standard input, and answer it.")
    var http = false

    /// The two positions of the switch.
    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @Option(help: "<switch> Begin or end to measure latencies, and print nothing: on or off.")
    var latency: Switch?

    @Argument(help: "<ns> The namespace; without it all.", completion: .namespaces)
    var namespace: String?

    func validate() throws {
        guard latency != nil else { return }
        if namespace == nil { throw ValidationError("--latency is for one namespace: name it") }
        if http { throw ValidationError("--latency answers no request: leave out --http") }
    }

    func run() throws {
        if let latency, let namespace {
            return try NamespaceAccess(common, namespace).use { try $0.setMeasuringLatency(latency == .on) }
        }
        if http { return try answer() }
        let (text, failure) = try metrics()
        try Output.print(text: text)
        if let failure { throw CommandFailure(ExitStatus(failure.code), nil) }
    }

    /// Reads one request, and answers it: with the metrics, or with a line that says why there are none.
    private func answer() throws {
        let request: HTTPRequest
        do {
            request = try HTTPRequest.read()
        } catch HTTPRequest.Refusal.late {
            return try HTTPAnswer.refusal("408 Request Timeout", "no request came").send(to: nil)
        } catch HTTPRequest.Refusal.malformed {
            return try HTTPAnswer.refusal("400 Bad Request", "this is no request of HTTP/1").send(to: nil)
        }
        try answer(to: request).send(to: request.method)
    }

    private func answer(to request: HTTPRequest) throws -> HTTPAnswer {
        guard request.path == "/metrics" || request.path == "/" else {
            return .refusal("404 Not Found", "the metrics are at /metrics")
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return .refusal("405 Method Not Allowed", "use GET", fields: ["Allow: GET, HEAD"])
        }
        do {
            let (text, failure) = try metrics()
            if namespace != nil, let failure { throw failure }
            return HTTPAnswer(status: "200 OK", type: MetricsReport.mediaType, body: text)
        } catch let error as SpaceError {
            // The journal of the service shows the error too.
            Messages.print("space: \(error)")
            return .refusal("503 Service Unavailable", "\(error)")
        }
    }

    /// The text, and the first failure of a look, which standard error tells.
    private func metrics() throws -> (text: String, failure: SpaceError?) {
        var report = MetricsReport(spansAll: namespace == nil)
        if let namespace {
            let access = try NamespaceAccess(common, namespace)
            var failure: SpaceError?
            do {
                report.add(namespace, try access.use { try $0.status() })
            } catch let error as SpaceError where error.code != .namespaceNotFound {
                if !http { Messages.print("space: \(error)") }
                failure = error
                report.add(namespace, nil)
            }
            return (report.text, failure)
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
        return (report.text, failure)
    }
}
