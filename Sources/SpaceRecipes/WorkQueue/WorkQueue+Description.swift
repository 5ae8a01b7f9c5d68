extension WorkQueue: CustomStringConvertible {
    /// `queue "mail" in namespace "jobs"`.
    public var description: String { namespace.describing(.queue, name) }
}
