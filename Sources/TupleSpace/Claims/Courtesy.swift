import SpaceSystem

/// Lets the waiter to which a tuple was granted have it before the process that has put the tuple back goes on.
///
/// A process that uses one thing again and again puts the thing back and asks for it at once. The waiter has to wake up
/// first. So without this delay the waiter would find nothing, again and again, although it has waited longest.
///
/// The delay is bounded: a waiter that is stopped or was killed delays the process for one tick. If the waiter is
/// looking, the process can't know whether the waiter takes the tuple, so it waits for a short time more.
struct Courtesy {
    private static let rest = Duration.milliseconds(1)
    private static let patience = Duration.milliseconds(20)

    private let id: UInt64
    private let core: NamespaceCore
    private let end = MonotonicInstant.now.advanced(by: Limits.tick)
    private var lookEnd: MonotonicInstant?

    init(_ id: TupleID, _ core: NamespaceCore) {
        self.id = id.rawValue
        self.core = core
    }

    /// How long to wait until the next call; `nil`: the process goes on.
    mutating func next() -> Duration? {
        guard core.slots.isAnybodyWaiting, !end.hasPassed else { return nil }
        if core.slots.isPromised(id) {
            lookEnd = .now.advanced(by: Self.patience)
        } else if lookEnd?.hasPassed ?? true {
            return nil
        }
        let isThere = try? core.read(showsNear: true) { (snapshot) throws(SpaceError) in
            try snapshot.tupleRow(id) != nil
        }
        return isThere ?? false ? Self.rest : nil
    }
}

extension Waits {
    /// Blocks the thread until the waiter to which the tuple was granted has taken it, or does not want it.
    func letWaiterGoFirst(_ id: TupleID) {
        var courtesy = Courtesy(id, core)
        while let rest = courtesy.next() { Retry.rest(rest) }
    }

    /// Does the same for a task; a task that is cancelled goes on at once.
    nonisolated(nonsending) func letWaiterGoFirst(_ id: TupleID) async {
        var courtesy = Courtesy(id, core)
        while let rest = courtesy.next(), (try? await Task.sleep(for: rest)) != nil {}
    }
}
