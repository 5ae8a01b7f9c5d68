import CommandWords

extension ArgumentHelp {
    /// The help of the argument that names the namespace.
    static let namespace: ArgumentHelp = "<ns> The namespace."
}
