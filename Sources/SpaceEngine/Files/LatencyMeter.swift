import Glibc
import SpaceSystem
import Synchronization

/// One process's part in measuring a namespace's latencies: the file that it has mapped, and for which switch.
package final class LatencyMeter: Sendable {
    private struct Mapped {
        /// The value of the switch's word for which the file was looked for; 0: it was not looked for yet.
        var word: UInt32 = 0
        /// `nil` if the file could not be opened: then this process counts nothing until the next switch.
        var map: MappedFile?
    }

    private let mapped = Mutex(Mapped())

    package init() {}

    /// Counts one duration, if the switch still has the value that it had when the measuring began.
    ///
    /// `folder` opens the namespace's folder, once after each switch.
    package func add(
        _ duration: UInt64,
        to kind: LatencyFile.Kind,
        for word: UInt32,
        in control: ControlFile,
        _ folder: () -> NamespaceFolder?
    ) {
        guard control.latency.load() == word else { return }
        let map = mapped.withLock { mapped in
            if mapped.word != word { mapped = Mapped(word: word, map: Self.map(for: word, control, folder)) }
            return mapped.map
        }
        if let map { LatencyFile.add(duration, to: kind, in: map) }
    }

    private static func map(for word: UInt32, _ control: ControlFile, _ folder: () -> NamespaceFolder?) -> MappedFile? {
        guard let folder = folder(),
            let file = try? LatencyFile.open(in: folder, for: word, of: control.header.life, flags: O_RDWR)
        else { return nil }
        return LatencyFile.map(file)
    }
}
