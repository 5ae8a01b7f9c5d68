public import TupleCoding

extension Transaction {
    /// Posts a notification, which reaches watchers together with the other changes.
    public func post(
        _ name: String,
        _ content: some Encodable = Value.null,
        from sender: (any AnyObject & Sendable)? = nil
    ) throws(SpaceError) {
        let value = try state.attempt(Post.name) { () throws(SpaceError) in try Value(checking: content) }
        try post(name, value: value, sender: sender)
    }

    /// Posts a notification with a value: the same as ``post(_:_:from:)``.
    @_disfavoredOverload
    public func post(_ name: String, value: Value = .null, sender: (any AnyObject & Sendable)? = nil) throws(SpaceError)
    {
        try state.attempt(Post.name) { () throws(SpaceError) in try state.execute(Post(name, value, sender)) }
    }
}
