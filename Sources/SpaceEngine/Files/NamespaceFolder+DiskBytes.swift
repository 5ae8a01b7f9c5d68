import SpaceSystem

extension NamespaceFolder {
    /// How many bytes the blocks of the namespace's files take up, for a `fast` namespace in memory.
    ///
    /// A file that is removed during the look counts as empty.
    package var diskBytes: Int {
        guard let names = try? Directory.list(descriptor.raw) else { return 0 }
        return names.reduce(0) { $0 + ((try? Directory.info(at: descriptor.raw, $1))?.allocated ?? 0) }
    }
}
