/// What keeps a connection from being made, in words that say which option to check.
///
/// The errors are those of packages below gRPC, whose types can't be named here, so their texts are looked at. What is not
/// known is told as it is.
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
    static func told(_ text: String) -> String { known.first { text.contains($0.sign) }?.words ?? text }
}
