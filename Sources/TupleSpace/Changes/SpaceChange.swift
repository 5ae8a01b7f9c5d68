/// The appearance or disappearance of a namespace.
public enum SpaceChange: Sendable {
    /// A namespace with this name has appeared.
    case appeared(String)
    /// The namespace with this name has disappeared.
    case disappeared(String)
}
