/// A registered responder to a name.
public struct Responder: Sendable, Hashable {
    /// The name that it answers to.
    public var name: String { named.text }
    private let named: Name
    /// Its key: the one given at registration, or a UUID.
    public var key: String { keyed.text }
    private let keyed: Name
    /// Its process.
    public let pid: Int32
    /// Whether it is a base handler, asked after all others.
    public let isBase: Bool
    /// When it was registered, in milliseconds since 1970.
    public let since: Int64

    package init(_ name: String, _ row: ResponderRow) {
        named = Name(name)
        keyed = Name(row.key)
        pid = row.pid
        isBase = row.isBase
        since = row.since
    }
}
