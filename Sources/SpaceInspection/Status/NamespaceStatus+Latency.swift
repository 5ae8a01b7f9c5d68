extension NamespaceStatus {
    /// How long waits for tuples have lasted, in all processes, since the measuring began.
    public struct Latency: Sendable, Hashable {
        /// From the first look that found nothing to the return with a tuple: the reads, takes and claims that found
        /// none at once.
        public let waiting: LatencyHistogram
        /// From the moment at which a tuple was granted to a waiting taker, right after the commit that made it visible,
        /// to the taker's return with it.
        ///
        /// A tuple that a waiter finds by itself, before a grant, is not counted: as when it looks again and again
        /// before it sleeps.
        public let handOff: LatencyHistogram
    }
}

extension NamespaceStatus.Latency {
    /// Reads what was measured; `nil` if nothing is measured.
    package init?(in folder: borrowing NamespaceFolder, _ control: ControlFile) throws(SpaceError) {
        guard let histograms = try LatencyFile.read(in: folder, control) else { return nil }
        waiting = histograms[LatencyFile.Kind.waiting.rawValue]
        handOff = histograms[LatencyFile.Kind.handOff.rawValue]
    }
}
