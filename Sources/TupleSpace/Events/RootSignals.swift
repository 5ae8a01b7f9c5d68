import SpaceSystem
import Synchronization

/// The waiters of this process for namespaces to appear and disappear.
///
/// The thread that hears the namespaces' change signals signals them for every event in a root folder, and at every
/// tick.
package final class RootSignals: Sendable {
    /// The signals by inotify's watch, one for each folder; those without a watch are served only by ticks.
    private let bells = Mutex<[Int32: [RootSignal]]>([:])

    static let mask: INotify.Mask = [.movedTo, .movedFrom, .created, .deleted, .deletedItself, .movedItself]
    private static let unheard: Int32 = -1

    func begin(_ bell: RootSignal, watch: Int32?) {
        bells.withLock { $0[watch ?? Self.unheard, default: []].append(bell) }
    }

    /// Removes a signal; returns the watch if no other signal needs it.
    func end(_ bell: RootSignal, watch: Int32?) -> Int32? {
        bells.withLock { bells in
            // A signal whose folder is gone is among the unheard, whatever its watch was.
            for key in Set([watch ?? Self.unheard, Self.unheard]) {
                guard let index = bells[key]?.firstIndex(where: { $0 === bell }) else { continue }
                bells[key]?.remove(at: index)
                guard bells[key]?.isEmpty ?? false else { return nil }
                bells[key] = nil
                return key == Self.unheard ? nil : key
            }
            return nil
        }
    }

    /// Whether a watch is still valid; it ends with its folder.
    func isHeard(_ bell: RootSignal, watch: Int32) -> Bool {
        bells.withLock { $0[watch]?.contains { $0 === bell } ?? false }
    }

    func hear(_ event: INotify.Event) {
        let rung = bells.withLock { bells in
            // inotify(7): after this event the watch's number is invalid.
            if event.mask.contains(.ignored), let deaf = bells.removeValue(forKey: event.watch) {
                bells[Self.unheard, default: []] += deaf
                return deaf
            }
            return event.isOverflow ? bells.values.flatMap { $0 } : bells[event.watch] ?? []
        }
        for bell in rung { bell.ring() }
    }

    func tick() {
        for bell in bells.withLock({ $0.values.flatMap { $0 } }) { bell.ring() }
    }
}
