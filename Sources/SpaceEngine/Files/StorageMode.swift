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
