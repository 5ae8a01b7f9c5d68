extension Namespace: CustomStringConvertible {
    /// What the handle is, in one line: `namespace "party" in /run/user/1000/shared-space`.
    public var description: String { "namespace \(name.quotedForPeople) in \(core.root.path)" }
}
