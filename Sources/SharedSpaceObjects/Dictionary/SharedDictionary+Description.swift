import TupleCoding

extension SharedDictionary: CustomStringConvertible {
    /// What the handle is, in one line: `dictionary "settings" of Int in namespace "app"`.
    ///
    /// It reads nothing; ``snapshot()`` and ``count`` do.
    public var description: String {
        "dictionary \(name.quotedForPeople) of \(Value.self) in namespace \(namespace.name.quotedForPeople)"
    }
}
