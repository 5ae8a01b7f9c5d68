/// How a namespace keeps its data.
///
/// The mode is fixed when the namespace is created, and every opener checks it.
public enum StorageMode: String, Sendable, Hashable, CaseIterable {
    /// The fastest mode: data is written through a shared map, and never synced.
    ///
    /// Data survives the kill of any process. A persistent namespace on a disk survives an orderly reboot, but a power
    /// failure may tear it. The mode needs tmpfs, ext4 or xfs.
    case fast
    /// Like ``fast``, but no stray pointer of a client can touch the data, because pages are written by system calls.
    ///
    /// The mode works on any local file system.
    case guarded
    /// Every commit is synced to the disk, so data survives a reboot and power loss.
    ///
    /// The mode is for persistent namespaces on a disk.
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
