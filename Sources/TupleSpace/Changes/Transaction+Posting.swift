extension Transaction {
    /// Posts a notification, which reaches watchers together with the other changes.
    public func post(
        _ name: String,
        _ content: some Encodable = Value.null,
        from sender: (any AnyObject & Sendable)? = nil
    ) throws(SpaceError) {
        try state.naming(Post.name) { () throws(SpaceError) in try state.execute(Post(name, content, sender)) }
    }
}
