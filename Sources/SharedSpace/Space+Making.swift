// A space is made here, above all other layers, because it is made with the parts that every feature keeps for a
// namespace.

extension Space {
    /// The version of the library and of the commands: <doc:ChangeLog>.
    ///
    /// Within `0.x` a change of the second number may break source code, and the change log says how to adapt it.
    public static let version = "0.9.0"

    /// The space at `$SHARED_SPACE_ROOT`, else `/dev/shm/shared-space-<uid>`.
    ///
    /// Its folder is made when it is first used.
    public static let `default` = Space(trusting: nil, timeout: .seconds(5))

    /// Opens the space in a folder, and makes the folder if it does not exist.
    ///
    /// - Parameters:
    ///   - root: The folder; a relative path is resolved against the current working directory now. `nil` means
    ///     `$SHARED_SPACE_ROOT`, else `/dev/shm/shared-space-<uid>`.
    ///   - timeout: How long an operation waits for a lock that another process holds before it throws `holderStopped`
    ///     or `holderBusy`.
    /// - Throws: `permissionDenied` if the folder belongs to another user, is a symbolic link, or is writable for
    ///   others. A folder that a group shares is accepted only if it is named.
    public convenience init(root: String? = nil, timeout: Duration = .seconds(5)) throws(SpaceError) {
        self.init(trusting: root, timeout: timeout)
        try makeRoot()
    }

    /// Makes a space without looking at its folder, which need not exist.
    package convenience init(trusting root: String?, timeout: Duration) {
        self.init(
            trusting: root,
            timeout: timeout,
            parts: [PlacesPart.self, ObservationHub.self, ResponderHub.self, DeadlockWatch.self]
        )
    }
}
