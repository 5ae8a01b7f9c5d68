extension Election: CustomStringConvertible {
    /// `election "scheduler" in namespace "cluster"`.
    public var description: String { namespace.describing(.election, name) }
}
