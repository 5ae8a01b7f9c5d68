/// What a namespace is created with.
///
/// Where it exists already, an opener that names something else than the namespace is gets `incompatible`; what has its default
/// here is not named. ``Namespace/setPersistent(_:)`` and ``Namespace/setHistory(_:)`` change what can be changed.
public struct NamespaceOptions: Sendable, Hashable {
    /// The storage mode; `nil` takes what is there, and creates ``StorageMode/fast``.
    public var mode: StorageMode?
    /// Whether a namespace that this call creates stays when its last owner has exited.
    public var isPersistent: Bool
    /// How large the data file may grow, in bytes, 16 MiB to 64 GiB; `nil`: half of the file system, 64 GiB at most.
    public var byteLimit: Int?
    /// The number of a group that may use the namespace as fully as its creator; `nil`: the creator's uid alone.
    ///
    /// Folders become 2770 and files 0660.
    public var group: UInt32?
    /// How much of what happens is kept also while nobody watches; `nil`: nothing.
    ///
    /// ``Namespace/setHistory(_:)`` changes it later.
    public var history: History?

    /// Makes options; every one has a default.
    public init(
        mode: StorageMode? = nil,
        isPersistent: Bool = false,
        byteLimit: Int? = nil,
        group: UInt32? = nil,
        history: History? = nil
    ) {
        self.mode = mode
        self.isPersistent = isPersistent
        self.byteLimit = byteLimit
        self.group = group
        self.history = history
    }
}
