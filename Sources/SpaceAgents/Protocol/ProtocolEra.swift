import SharedSpace

/// Which form of the protocol a request uses.
///
/// Until 2025-11-25 a client begins with `initialize`. From 2026-07-28 on each request carries its version and the client's
/// capabilities, and there is no beginning. This server keeps nothing from one request to the next in either, except for
/// the version that `initialize` agreed on.
enum ProtocolEra: Equatable {
    case legacy(String)
    case modern

    static let modernVersion = "2026-07-28"
    /// The newest comes first.
    static let legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    static let versions = [modernVersion] + legacyVersions

    private static let prefix = "io.modelcontextprotocol/"

    /// The form of a request.
    ///
    /// - Parameters:
    ///   - parameters: The request's parameters.
    ///   - agreed: The version of `initialize`.
    /// - Throws: `ProtocolError` for a version that isn't known, and for a request that lacks what its version requires.
    init(_ parameters: Record, agreed: String) throws(ProtocolError) {
        guard let meta = parameters["_meta"]?.members, let version = meta[Self.prefix + "protocolVersion"] else {
            self = .legacy(agreed)
            return
        }
        guard let version = version.text else { throw .parameters("the protocol version is not a string") }
        if Self.legacyVersions.contains(version) {
            self = .legacy(version)
            return
        }
        guard version == Self.modernVersion else {
            throw ProtocolError(
                code: -32022,
                message: "Unsupported protocol version",
                data: ["supported": Self.versions, "requested": version]
            )
        }
        guard meta[Self.prefix + "clientCapabilities"]?.members != nil else {
            throw .parameters("\"_meta\" lacks \(Self.prefix)clientCapabilities")
        }
        self = .modern
    }

    /// How the client calls itself, if it says so in the request.
    static func client(in parameters: Record) -> String? {
        let info = parameters["clientInfo"] ?? parameters["_meta"]?.members?[prefix + "clientInfo"]
        return info?.members?["name"]?.text
    }

    static let serverInfo: JSONObject = ["name": "space", "version": Space.version]

    /// A result with what this form adds to it.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - isCacheable: Whether the client may keep it: it is the same for all.
    /// - Returns: The whole result.
    func completed(_ result: JSONObject, isCacheable: Bool = false) -> JSONObject {
        guard self == .modern else { return result }
        var result = result
        result.add("resultType", "complete")
        if isCacheable { result.add(["ttlMs": 3_600_000, "cacheScope": "public"]) }
        result.add("_meta", [Self.prefix + "serverInfo": Self.serverInfo] as JSONObject)
        return result
    }

    /// Whether a result may have its answer as an object too.
    var hasStructuredContent: Bool {
        switch self {
        case .modern: true
        case .legacy(let version): version >= "2025-06-18"
        }
    }

    /// Whether a message may be an array of messages.
    var hasBatches: Bool { self == .legacy("2025-03-26") }
}
