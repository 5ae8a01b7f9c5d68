/// How a namespace keeps its data.
///
/// Fixed when the namespace is created, and checked by every opener.
public enum StorageMode: String, Sendable, Hashable, CaseIterable {
    /// Written through a shared map, and never synced: the fastest. Survives the kill of any process; a persistent one on a disk
    /// survives an orderly reboot, and may be torn by a power failure. Needs tmpfs, ext4 or xfs.
    case fast
    /// Like ``fast``, but no stray pointer of a client can touch the data: pages are written by system calls. For any local
    /// file system.
    case guarded
    /// Every commit is synced to the disk: survives a reboot and power loss. For persistent namespaces on a disk.
    case durable

    package var number: UInt32 {
        switch self {
        case .fast: 1
        case .guarded: 2
        case .durable: 3
        }
    }

    package init?(number: UInt32) {
        guard let mode = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = mode
    }
}

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
