public import TupleSpace

// A space is made here, above all floors, because it is made with what every feature keeps for a namespace.

extension Space {
    /// The space at `$SHARED_SPACE_ROOT`, else `/dev/shm/shared-space-<uid>`.
    ///
    /// Its folder is made at the first use.
    public static let `default` = Space(trusting: nil, timeout: .seconds(5))

    /// Opens the space in a folder, and makes the folder if it is not there.
    ///
    /// - Parameters:
    ///   - root: The folder, where a relative path counts from the working directory of this moment; `nil`:
    ///     `$SHARED_SPACE_ROOT`, else `/dev/shm/shared-space-<uid>`.
    ///   - timeout: How long an operation waits for a lock that another process holds before it throws `holderStopped` or
    ///     `holderBusy`.
    /// - Throws: `permissionDenied` when the folder belongs to another user, is a symbolic link, or others may write in it. A
    ///   folder that a group shares is one only if it is named.
    public convenience init(root: String? = nil, timeout: Duration = .seconds(5)) throws(SpaceError) {
        self.init(trusting: root, timeout: timeout)
        try makeRoot()
    }

    /// A space whose folder need not exist, and is not looked at.
    package convenience init(trusting root: String?, timeout: Duration) {
        self.init(trusting: root, timeout: timeout, parts: [HoldsPart.self, ObservationHub.self, ResponderHub.self])
    }
}
