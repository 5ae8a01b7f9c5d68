/// The options with which a namespace is created.
///
/// If the namespace exists already, each option must have the namespace's value, or the call throws `incompatible`; an
/// option with its default value is not compared. ``Namespace/setPersistent(_:)`` and ``Namespace/setHistory(_:)``
/// change an existing namespace.
public struct NamespaceOptions: Sendable, Hashable {
    package var mode: StorageMode?
    package var isPersistent: Bool
    package var byteLimit: Int?
    package var group: UInt32?
    package var history: History?
    package var isReplicated: Bool
    package var isLocal: Bool

    /// Makes options; every one has a default.
    ///
    /// - Parameters:
    ///   - mode: The storage mode; `nil` accepts the mode of an existing namespace, and creates a new one as
    ///     ``StorageMode/fast``.
    ///   - isPersistent: Whether a namespace that this call creates stays when its last owner has exited.
    ///   - byteLimit: The data file's size limit in bytes, 16 MiB to 64 GiB; `nil` for half of the file system, at most
    ///     64 GiB.
    ///   - group: The number of a group whose members may use the namespace like its creator; `nil` for the creator's uid
    ///     alone. Folders become 2770 and files 0660.
    ///   - history: The history that the journal keeps even while no watcher is registered; `nil` for none.
    ///     ``Namespace/setHistory(_:)`` changes it later.
    ///   - isReplicated: Whether several machines share the namespace: a new namespace is made so when it is created,
    ///     and an existing one must already be so. ``Namespace/replicate()`` changes it later.
    ///   - isLocal: Whether the namespace is this root's alone, even if the other machines of a root that has joined
    ///     (`space join`) share one of its name. Without it, a namespace is made in such a root only while the daemon says
    ///     that they don't. It excludes `isReplicated`.
    public init(
        mode: StorageMode? = nil,
        isPersistent: Bool = false,
        byteLimit: Int? = nil,
        group: UInt32? = nil,
        history: History? = nil,
        isReplicated: Bool = false,
        isLocal: Bool = false
    ) {
        self.mode = mode
        self.isPersistent = isPersistent
        self.byteLimit = byteLimit
        self.group = group
        self.history = history
        self.isReplicated = isReplicated
        self.isLocal = isLocal
    }
}
