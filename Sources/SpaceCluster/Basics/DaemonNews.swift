/// What a daemon tells of itself.
package enum DaemonNews: Equatable, Sendable {
    /// It is a member and knows all namespaces.
    case joined
    /// It is none, for this reason, and tries to become one.
    case apart(String)
    /// The store says that this is wrong with it; it may be nothing.
    case troubles([String])
    /// This has happened to one of its replicas.
    case event(String)
}
