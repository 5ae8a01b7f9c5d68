import Foundation

/// The answers to requests: the page, its events, and refusals.
struct Answers: Sendable {
    let viewers: Viewers
    let place: ListeningPlace

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let host = request["host"] ?? ""
        guard place.accepts(host: host) else {
            return Self.refusal(.forbidden, "the Host header does not name this machine and port")
        }
        // A browser names the page that asks where it is another one.
        guard [nil, "http://\(host)"].contains(request["origin"]) else {
            return Self.refusal(.forbidden, "only the server's own page is answered")
        }
        guard request["transfer-encoding"] == nil else {
            return Self.refusal(.lengthRequired, "this server takes no bodies")
        }
        guard ["0", nil].contains(request["content-length"]) else {
            return Self.refusal(.contentTooLarge, "this server takes no bodies")
        }
        guard request.method == "GET" else {
            return Self.refusal(
                .methodNotAllowed,
                "use GET: this server changes nothing",
                fields: [(name: "Allow", value: "GET")]
            )
        }
        switch request.path {
        case "/": return Self.page()
        case "/events": return events(request)
        default: return Self.refusal(.notFound, "the page is at /")
        }
    }

    private func events(_ request: HTTPRequest) -> HTTPAnswer {
        // A page of another site may not even take up a place.
        guard ["same-origin", "none", nil].contains(request["sec-fetch-site"]) else {
            return Self.refusal(.forbidden, "the events are for the server's own page")
        }
        guard let view = View(request.query) else { return Self.refusal(.badRequest, "there is no such view") }
        guard let mailbox = viewers.open(view) else {
            return Self.refusal(.serviceUnavailable, "too many pages are open")
        }
        return HTTPAnswer(status: .ok, fields: Self.fields("text/event-stream"), body: .events(mailbox))
    }

    private static let source = String(decoding: PackageResources.page_html, as: UTF8.self)

    /// The page; only the style and the script that carry the answer's own number are used by the browser.
    private static func page() -> HTTPAnswer {
        var random = SystemRandomNumberGenerator()
        let nonce = "\(String(random.next(), radix: 36))\(String(random.next(), radix: 36))"
        let html = source.replacingOccurrences(of: "{{nonce}}", with: nonce)
        return HTTPAnswer(
            status: .ok,
            fields: fields("text/html; charset=utf-8", nonce: nonce),
            body: .text(html)
        )
    }

    static func refusal(
        _ status: HTTPAnswer.Status,
        _ why: String,
        fields more: [(name: String, value: String)] = []
    ) -> HTTPAnswer {
        HTTPAnswer(status: status, fields: fields("text/plain; charset=utf-8") + more, body: .text("\(why)\n"))
    }

    /// The fields of every answer: nothing from elsewhere is loaded, nothing is kept, and no other site embeds it.
    private static func fields(_ type: String, nonce: String? = nil) -> [(name: String, value: String)] {
        let own =
            nonce.map { "script-src 'nonce-\($0)'; style-src 'nonce-\($0)'; connect-src 'self'; img-src data:; " } ?? ""
        return [
            ("Content-Type", type),
            (
                "Content-Security-Policy",
                "default-src 'none'; \(own)base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ]
    }
}
