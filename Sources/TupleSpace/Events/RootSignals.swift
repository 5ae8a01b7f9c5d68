import SpaceSystem
import Synchronization

/// The waiters of this process for namespaces to appear and disappear.
///
/// The event loop signals them for every event in a root folder, and at its ticks.
package final class RootSignals: Sendable {
    /// The signals by inotify's watch, one for each folder; those without a watch are served only by ticks.
    private let signals = Mutex<[Int32: [RootSignal]]>([:])

    static let mask: INotify.Mask = [.movedTo, .movedFrom, .created, .deleted, .deletedItself, .movedItself]
    private static let unheard: Int32 = -1

    func begin(_ signal: RootSignal, watch: Int32?) {
        signals.withLock { $0[watch ?? Self.unheard, default: []].append(signal) }
    }

    /// Removes a signal; returns the watch if no other signal needs it.
    func end(_ signal: RootSignal, watch: Int32?) -> Int32? {
        signals.withLock { signals in
            // A signal whose folder is gone is among the unheard, whatever its watch was.
            for key in Set([watch ?? Self.unheard, Self.unheard]) {
                guard let index = signals[key]?.firstIndex(where: { $0 === signal }) else { continue }
                signals[key]?.remove(at: index)
                guard signals[key]?.isEmpty ?? false else { return nil }
                signals[key] = nil
                return key == Self.unheard ? nil : key
            }
            return nil
        }
    }

    /// Whether a watch is still valid; it ends with its folder.
    func isHeard(_ signal: RootSignal, watch: Int32) -> Bool {
        signals.withLock { $0[watch]?.contains { $0 === signal } ?? false }
    }

    /// Whether signals depend on ticks alone.
    var needTicks: Bool { signals.withLock { $0[Self.unheard] != nil } }

    var isEmpty: Bool { signals.withLock { $0.isEmpty } }

    func hear(_ event: INotify.Event, _ sleepers: SleeperTable) {
        let rung = signals.withLock { signals in
            // inotify(7): after this event the watch's number is invalid.
            if event.mask.contains(.ignored), let deaf = signals.removeValue(forKey: event.watch) {
                signals[Self.unheard, default: []] += deaf
                return deaf
            }
            return event.isOverflow ? signals.values.flatMap { $0 } : signals[event.watch] ?? []
        }
        for signal in rung { signal.ring(sleepers) }
    }

    func tick(_ sleepers: SleeperTable) {
        for signal in signals.withLock({ $0.values.flatMap { $0 } }) { signal.ring(sleepers) }
    }
}
