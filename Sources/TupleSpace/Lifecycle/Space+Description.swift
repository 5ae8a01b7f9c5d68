extension Space: CustomStringConvertible {
    /// What it is, in one line: `space in /run/user/1000/shared-space`.
    public var description: String { "space in \(root)" }
}
