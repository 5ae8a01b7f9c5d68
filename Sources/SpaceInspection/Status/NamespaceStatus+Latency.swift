extension NamespaceStatus {
    /// How long waits for tuples have lasted, in all processes, since the measuring began.
    public struct Latency: Sendable, Hashable {
        /// The time from the first look to the return with a tuple, for reads, takes and claims that found none at the
        /// first look.
        public let waiting: LatencyHistogram
        /// The time from the grant of a tuple to a waiting taker, right after the commit that made the tuple visible,
        /// to the taker's return with it.
        ///
        /// A tuple that a waiter finds by itself, before a grant, is not counted, for example when the waiter spins
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
