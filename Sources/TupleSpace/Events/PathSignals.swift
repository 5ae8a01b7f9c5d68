package import SpaceSystem
import Synchronization

/// The waiters of this process for changes of folders and files, such as namespaces that appear and disappear.
///
/// The event loop signals them for every event at their path, and at its ticks.
package final class PathSignals: Sendable {
    private struct State {
        /// The signals by inotify's watch, one for each path; those without a watch are served only by ticks.
        var byWatch: [Int32: [PathSignal]] = [:]
        var byPlace: [ObjectIdentifier: PathSignal] = [:]
    }

    private let state = Mutex(State())

    package static let mask: INotify.Mask = [.movedTo, .movedFrom, .created, .deleted, .deletedItself, .movedItself]
    private static let unheard: Int32 = -1

    func begin(_ signal: PathSignal, watch: Int32?) {
        state.withLock { state in
            state.byWatch[watch ?? Self.unheard, default: []].append(signal)
            state.byPlace[ObjectIdentifier(signal)] = signal
        }
    }

    /// Removes a signal; returns the watch if no other signal needs it.
    func end(_ signal: PathSignal, watch: Int32?) -> Int32? {
        state.withLock { state in
            state.byPlace[ObjectIdentifier(signal)] = nil
            // A signal whose folder is gone is among the unheard, whatever its watch was.
            for key in Set([watch ?? Self.unheard, Self.unheard]) {
                guard let index = state.byWatch[key]?.firstIndex(where: { $0 === signal }) else { continue }
                state.byWatch[key]?.remove(at: index)
                guard state.byWatch[key]?.isEmpty ?? false else { return nil }
                state.byWatch[key] = nil
                return key == Self.unheard ? nil : key
            }
            return nil
        }
    }

    /// Whether a watch is still valid; it ends with its folder.
    func isHeard(_ signal: PathSignal, watch: Int32) -> Bool {
        state.withLock { $0.byWatch[watch]?.contains { $0 === signal } ?? false }
    }

    /// Whether signals depend on ticks alone.
    var needTicks: Bool { state.withLock { $0.byWatch[Self.unheard] != nil } }

    var isEmpty: Bool { state.withLock { $0.byWatch.isEmpty } }

    func hear(_ event: INotify.Event, _ sleepers: SleeperTable) {
        let rung = state.withLock { state in
            // inotify(7): after this event the watch's number is invalid.
            if event.mask.contains(.ignored), let deaf = state.byWatch.removeValue(forKey: event.watch) {
                state.byWatch[Self.unheard, default: []] += deaf
                return deaf
            }
            return event.isOverflow ? state.byWatch.values.flatMap { $0 } : state.byWatch[event.watch] ?? []
        }
        for signal in rung { signal.ring(.change(event), sleepers) }
    }

    func tick(_ sleepers: SleeperTable) {
        for signal in state.withLock({ $0.byWatch.values.flatMap { $0 } }) { signal.ring(.tick, sleepers) }
    }

    /// Rings the signals for which a process was followed that has ended.
    func hearExit(_ places: Set<ObjectIdentifier>, _ sleepers: SleeperTable) {
        let ended = state.withLock { state in places.compactMap { state.byPlace[$0] } }
        for signal in ended { signal.ring(.exit, sleepers) }
    }
}
