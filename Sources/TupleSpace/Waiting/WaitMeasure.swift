import SpaceSystem

/// The measuring of one wait for a tuple, from the look that found nothing.
///
/// If latencies are not measured, it costs such a wait one relaxed load, and a look that finds a tuple at once nothing.
struct WaitMeasure {
    private let word: UInt32
    private let begin: MonotonicInstant

    /// Begins to measure; `nil` if the namespace's latencies are not measured, or if the wait is for no tuple.
    @inline(__always)
    init?(_ core: NamespaceCore, _ interest: @autoclosure () -> Interest) {
        let word = core.control.latency.loadRelaxed()
        guard LatencyFile.isOn(word), interest().isOfTuple else { return nil }
        self.word = word
        begin = .now
    }

    /// Counts the wait, which has ended with a tuple.
    ///
    /// `grant` is when the tuple was granted to the wait, in monotonic nanoseconds; `nil` if it was found without a
    /// grant, or only read.
    func end(_ core: NamespaceCore, grantedAt grant: UInt64?) {
        let now = MonotonicInstant.now.nanoseconds
        let folder = { (try? core.engine.openFolder()) ?? nil }
        let wait = UInt64(clamping: now - begin.nanoseconds)
        core.latencyMeter.add(wait, to: .waiting, for: word, in: core.control, folder)
        guard let grant else { return }
        let handOff = UInt64(clamping: now - Int64(clamping: grant))
        core.latencyMeter.add(handOff, to: .handOff, for: word, in: core.control, folder)
    }
}
