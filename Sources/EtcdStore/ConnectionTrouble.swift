/// What keeps a connection from being made, in words that say which option to check.
///
/// The errors are those of packages below gRPC, whose types can't be named here, so their texts are looked at. Of an error
/// of the system, its own words are told; what is not known is told as it is.
enum ConnectionTrouble {
    private static let known: [(sign: String, words: String)] = [
        (
            "CERTIFICATE_VERIFY_FAILED",
            "its certificate is not of the authorities of --ca (without --ca: of this system), or not of this time"
        ),
        ("failedToValidateHostname", "its certificate is for another host"),
        ("ALERT_BAD_CERTIFICATE", unwanted),
        ("ALERT_CERTIFICATE_REQUIRED", unwanted),
        ("ALERT_CERTIFICATE_UNKNOWN", unwanted),
        ("ALERT_CERTIFICATE_EXPIRED", unwanted),
        ("ALERT_UNKNOWN_CA", unwanted),
        ("EOF during handshake", unspoken),
        ("WRONG_VERSION_NUMBER", unspoken),
        (
            "before completing the HTTP/2 connection preface",
            "it ended the connection at once; perhaps it wants https, and not http"
        ),
    ]
    private static let unwanted = "it wants a certificate that it trusts; check --cert and --key"
    private static let unspoken = "it ended the connection when TLS began; perhaps it is http, and not https"

    /// The words for an error's text.
    static func told(_ text: String) -> String {
        known.first { text.contains($0.sign) }?.words ?? systemsWords(in: text) ?? text
    }

    /// The system's words for an error, of a text such as `connection reset (error set): Connection refused (errno: 111)`,
    /// which NIO also puts into the parentheses of another text.
    ///
    /// - Returns: `Connection refused`; `nil` if the text names no error of the system.
    private static func systemsWords(in text: String) -> String? {
        guard let number = text.ranges(of: " (errno: ").last else { return nil }
        let before = text[..<number.lowerBound]
        let words = before.ranges(of: ": ").last.map { before[$0.upperBound...] } ?? before
        return words.isEmpty ? nil : String(words)
    }
}
