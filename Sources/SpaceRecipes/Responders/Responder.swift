import TupleCoding

/// Somebody who answers requests of a name.
public struct Responder: Sendable, Hashable {
    /// What it answers to.
    public var name: String { named.text }
    private let named: Name
    /// Its key: as it was given, or a UUID.
    public var key: String { keyed.text }
    private let keyed: Name
    /// The process.
    public let pid: Int32
    /// Whether it lies under the stack.
    public let isBase: Bool
    /// Since when, milliseconds since 1970.
    public let since: Int64

    package init(_ name: String, _ row: ResponderRow) {
        named = Name(name)
        keyed = Name(row.key)
        pid = row.pid
        isBase = row.isBase
        since = row.since
    }
}
