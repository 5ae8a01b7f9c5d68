package import SharedSpace

extension StorageMode {
    /// Where a root for namespaces of this mode lies: on the disk for the one that syncs, else in memory.
    package var folder: String { self == .durable ? "/var/tmp" : "/dev/shm" }
}

extension TemporaryRoot {
    /// Where namespaces of a mode belong.
    package convenience init(for mode: StorageMode) throws { try self.init(in: mode.folder) }

    /// A namespace of a mode.
    package func namespace(_ mode: StorageMode, _ name: String = "n", byteLimit: Int? = nil) throws -> Namespace {
        try space.namespace(name, options: NamespaceOptions(mode: mode, byteLimit: byteLimit))
    }
}
