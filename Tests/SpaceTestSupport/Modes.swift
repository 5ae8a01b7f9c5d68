import SharedSpace

extension StorageMode {
    /// The folder of a root for namespaces of this mode: on the disk for the mode that syncs, else in memory.
    package var folder: String { self == .durable ? "/var/tmp" : "/dev/shm" }
}

extension TemporaryRoot {
    /// Makes a root in the folder for namespaces of a mode.
    package convenience init(for mode: StorageMode) throws { try self.init(in: mode.folder) }

    /// A namespace of a mode.
    package func namespace(_ mode: StorageMode, _ name: String = "n", byteLimit: Int? = nil) throws -> Namespace {
        try space.namespace(name, options: NamespaceOptions(mode: mode, byteLimit: byteLimit))
    }
}
