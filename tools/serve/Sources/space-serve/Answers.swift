import FlyingFox
import Foundation

/// The answers to requests: the page, its events, and refusals.
struct Answers: Sendable {
    let viewers: Viewers
    let place: @Sendable () -> ListeningPlace

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        let place = place()
        guard place.accepts(host: request.headers[.host] ?? "") else {
            return Self.refusal(.forbidden, "the Host header does not name this machine and port")
        }
        guard PeerCheck.isAllowed(request.remoteAddress, at: place) else {
            return Self.refusal(.forbidden, "only processes of the server's user are answered")
        }
        guard request.method == .GET else {
            var refusal = Self.refusal(.methodNotAllowed, "use GET: this server changes nothing")
            refusal.headers[HTTPHeader("Allow")] = "GET"
            return refusal
        }
        switch request.path {
        case "/": return Self.page()
        case "/events": return events(request)
        default: return Self.refusal(.notFound, "the page is at /")
        }
    }

    private func events(_ request: HTTPRequest) -> HTTPResponse {
        // A page of another site may not even take up a place.
        guard ["same-origin", "none", nil].contains(request.headers[HTTPHeader("Sec-Fetch-Site")]) else {
            return Self.refusal(.forbidden, "the events are for the server's own page")
        }
        guard let view = View(request.query) else { return Self.refusal(.badRequest, "there is no such view") }
        guard let mailbox = viewers.open(view) else {
            return Self.refusal(.serviceUnavailable, "too many pages are open")
        }
        return HTTPResponse(
            statusCode: .ok,
            headers: Self.headers("text/event-stream"),
            body: HTTPBodySequence(from: EventStream(mailbox))
        )
    }

    private static let source = String(decoding: PackageResources.page_html, as: UTF8.self)

    /// The page; only the style and the script that carry the answer's own number are used by the browser.
    private static func page() -> HTTPResponse {
        var random = SystemRandomNumberGenerator()
        let nonce = "\(String(random.next(), radix: 36))\(String(random.next(), radix: 36))"
        let html = source.replacingOccurrences(of: "{{nonce}}", with: nonce)
        return HTTPResponse(
            statusCode: .ok,
            headers: headers("text/html; charset=utf-8", nonce: nonce),
            body: Data(html.utf8)
        )
    }

    private static func refusal(_ status: HTTPStatusCode, _ why: String) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: headers("text/plain; charset=utf-8"), body: Data("\(why)\n".utf8))
    }

    /// The headers of every answer: nothing from elsewhere is loaded, nothing is kept, and no other site embeds it.
    private static func headers(_ type: String, nonce: String? = nil) -> HTTPHeaders {
        let own =
            nonce.map { "script-src 'nonce-\($0)'; style-src 'nonce-\($0)'; connect-src 'self'; img-src data:; " } ?? ""
        return [
            .contentType: type,
            HTTPHeader("Content-Security-Policy"):
                "default-src 'none'; \(own)base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            HTTPHeader("X-Content-Type-Options"): "nosniff",
            HTTPHeader("Referrer-Policy"): "no-referrer",
            HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
            HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
            HTTPHeader("Cache-Control"): "no-store",
        ]
    }
}
