import SharedSpace
import SpaceSystem

/// The memory that all processes of the part `cluster` share: what they acknowledged, and what was done to them.
///
/// Tuples and deaths are those of a ``KillLedger``. An operation that ended as `outcomeUnknown` is noted as a death is:
/// it may have had either outcome.
struct ClusterLedger: Sendable {
    static let machines = 3
    private static let holdCapacity = 1 << 18
    private static let counterCapacity = 1 << 20
    private static let changeCapacity = 1 << 21
    private static let header = 4096
    private static let movedStart = header
    private static let counterStart = movedStart + KillLedger.capacity * 4
    private static let holdStart = counterStart + counterCapacity * 4
    private static let changeStart = holdStart + holdCapacity * 32

    let kill: KillLedger
    private let memory: SharedMemory

    init() throws {
        kill = try KillLedger()
        memory = try SharedMemory(size: Self.changeStart + Self.changeCapacity * 8)
    }

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }

    var stop: SharedWord64 { kill.stop }
    /// Words on standard error would be too many: only the first faults are described.
    var failures: SharedWord64 { kill.failures }
    /// How many operations were acknowledged on a machine.
    func progress(_ machine: Int) -> SharedWord64 { word(machine) }
    /// Whether a machine is dead, so that no process of it may live.
    func isDown(_ machine: Int) -> SharedWord64 { word(8 + machine) }
    /// Not 0 while no worker is killed or stopped at random.
    var isCalm: SharedWord64 { word(16) }
    var stops: SharedWord64 { word(17) }
    var unknown: SharedWord64 { word(18) }
    var claimsLost: SharedWord64 { word(19) }

    /// How many workers died at a place of ``ClusterSupervisor/points``.
    func killedAt(_ point: Int) -> SharedWord64 { memory.word64(3072 + point * 8) }

    // MARK: Errors

    /// The errors by which nothing was changed, and which faults explain.
    static let refusals: [SpaceError.Code] = [
        .clusterUnavailable, .outrun, .holderBusy, .holderStopped, .timedOut, .namespaceDeleted, .namespaceNotFound,
        .closed,
        .holdLost, .claimLost,
    ]

    func refused(_ index: Int) -> SharedWord64 { memory.word64(2048 + index * 8) }

    /// Counts an error of an operation.
    ///
    /// Returns: Whether the operation may have been done.
    /// Throws: The error, if no fault explains it.
    func judge(_ error: SpaceError) throws(SpaceError) -> Bool {
        if error.code == .outcomeUnknown {
            _ = unknown.add(1)
            return true
        }
        guard let index = Self.refusals.firstIndex(of: error.code) else { throw error }
        _ = refused(index).add(1)
        return false
    }

    /// Notes that a process does not know the outcome of the operation in its place.
    func noteUnknown(_ place: KillLedger.Place, _ pid: Int32) {
        kill.noteDeath(of: pid, place, point: KillLedger.points.count + 1)
    }

    // MARK: Tuples

    /// The tuple that a process takes to write another in its stead.
    func moved(_ number: Int) -> SharedWord32 { memory.word32(Self.movedStart + number * 4) }

    // MARK: The counter

    var counted: SharedWord64 { word(20) }
    /// How many processes were told that they have set the counter to a number.
    func setters(_ number: Int) -> SharedWord32 {
        memory.word32(Self.counterStart + number % Self.counterCapacity * 4)
    }

    // MARK: Changes

    /// How many changes observers were told.
    var told: SharedWord64 { word(25) }
    var gaps: SharedWord64 { word(26) }
    /// Changes that differ between machines, or came out of order.
    var toldWrongly: SharedWord64 { word(27) }
    /// What the first observer was told under a number, as a hash.
    func change(_ sequence: UInt64) -> SharedWord64 {
        memory.word64(Self.changeStart + Int(sequence) % Self.changeCapacity * 8)
    }

    // MARK: Holds

    var holds: SharedWord64 { word(21) }
    /// The greatest fencing number that the protected thing has seen.
    var fencing: SharedWord64 { word(22) }
    /// Acquired with a fencing number that is not greater than one that was seen before.
    var unfenced: SharedWord64 { word(23) }
    /// Holders that were late, and whose number was refused: what the number is for.
    var fencedOff: SharedWord64 { word(24) }

    struct KeptHold {
        let fencing: UInt64
        let start: Int64
        let end: Int64
        let machine: UInt64
    }

    /// Notes a hold that was acquired and released without a word of its loss: it was held all the time between.
    func note(_ hold: KeptHold) {
        let index = Int(holds.add(1))
        guard index < Self.holdCapacity else { return }
        (memory.base + Self.holdStart + index * 32).storeBytes(of: hold, as: KeptHold.self)
    }

    var keptHolds: [KeptHold] {
        (0..<min(Int(holds.load()), Self.holdCapacity)).map {
            (memory.base + Self.holdStart + $0 * 32).load(as: KeptHold.self)
        }
    }
}
