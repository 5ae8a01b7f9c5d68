package import SpaceEngine
package import SpaceMachines
import SpaceSystem

/// A namespace of this root that several machines share, as the daemon uses it.
///
/// All calls may wait for the gate and for the disk, so the daemon makes them on threads that answer no process. A call
/// that writes through the log (``enter(_:from:)``, ``end(_:)``, ``execute(_:while:)``) asks for the pen and appends like any
/// other process, by what ``reachLog(by:)`` was given.
package protocol Replica: AnyObject, Sendable {
    var name: String { get }
    /// The namespace's life, which names its incarnation on all machines.
    var life: NamespaceLife { get }

    /// The header of the control file of the namespace that the replica was made of, encoded: for the next base.
    var header: [UInt8] { get }

    /// Says how the replica's transactions reach the log, before the first of them.
    func reachLog(by exchange: @escaping @Sendable () -> any DaemonExchange)

    /// How far the replica goes with the log: the number of its last entry, and the hash that the next one refers to.
    func position() throws(SpaceError) -> ReplicaPosition

    /// Applies an entry, as one transaction, and wakes what waits for it.
    ///
    /// - Parameter entry: The bytes as a process has appended them.
    /// - Returns: `false` if the replica has the entry already.
    /// - Throws: `damaged` if the entry does not decode, or is not the one behind the replica's last; and errors of the
    ///   disk. The replica is then as it was before.
    func apply(_ entry: [UInt8]) throws(SpaceError) -> Bool

    /// The hash that an entry refers to, and the one that the next entry refers to; `nil` if the bytes are no entry.
    ///
    /// By them the daemon compares a replica's last entry with the log's entry of the same number. It reads nothing of the
    /// replica.
    func links(of entry: [UInt8]) -> (before: UInt64, behind: UInt64)?

    /// Calls `visit` with all rows at one moment, in parts of at most 512 KiB, in the order in which ``ReplicaRoot`` takes
    /// them again.
    ///
    /// - Returns: The moment's position.
    func forEachPart(_ visit: ([UInt8]) throws -> Void) throws -> ReplicaPosition

    /// Gives the replica the contents of a base, in one transaction, and wakes what waits for it: the log no longer has
    /// the entries behind the replica's last one.
    ///
    /// Its processes continue to use it. Its watchers get a gap.
    ///
    /// - Parameters:
    ///   - base: What the base says beside its rows; its position is behind the replica's.
    ///   - nextPart: As in ``ReplicaRoot/makeReplica(of:nextPart:)``.
    /// - Throws: `holderBusy` if a process has changed the replica meanwhile; `limitReached`, `storageFull` and
    ///   `transactionTooLarge` if what differs has no room beside what is there; `damaged`; and what `nextPart` throws.
    ///   The replica is then as it was before.
    func goOn(from base: ReplicaBase, nextPart: () throws -> [UInt8]?) throws

    /// The members that take part in this namespace, with their machines' names, as of the replica's last entry.
    func members() throws(SpaceError) -> [ClusterMember]

    /// Appends an entry that makes a member one of this namespace; nothing happens if it is one already.
    ///
    /// With `numbers`, it also gives up the numbers before them, and is appended in any case.
    func enter(_ member: ClusterMember, from numbers: FreeNumbers?) throws(SpaceError)

    /// The first numbers that nothing has had yet, as of the replica's last entry.
    func freeNumbers() throws(SpaceError) -> FreeNumbers

    /// Appends an entry that has this machine's clock and changes nothing; a machine that has just joined needs it.
    ///
    /// - Parameter member: This machine's member.
    /// - Throws: What a write throws.
    func tellTime(as member: UInt32) throws(SpaceError)

    /// Appends the entry of a member's death, which is refused while the member's key exists, and then ends what its
    /// sessions held; nothing happens if it is no member.
    func end(_ member: UInt32) throws(SpaceError)

    /// Executes an operation that a process has sent, in a transaction with what others send at the same time.
    ///
    /// It does not wait for the gate: that is done on a thread of its own.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - isAwaited: Whether the process still waits for the result; if not, nothing is done. It is asked right before
    ///     the operation is executed.
    /// - Returns: The result; and whether the operation has found nothing to change, or an error, on the replica as it is here,
    ///   so that it may be executed again.
    func execute(_ operation: OperationMessage, while isAwaited: @escaping @Sendable () -> Bool) async
        -> (OperationAnswer, isUnchanged: Bool)

    /// Ends what the dead processes of this machine held, and their watchers.
    ///
    /// Processes that wait in the namespace do so at once, but only of their own machine. On a machine without such a
    /// process, the daemon must do it.
    ///
    /// - Throws: Why something could not be ended; all else was.
    func endDeadProcesses() throws(SpaceError)

    /// Says in shared memory as which member this root's processes write; 0 if the daemon has none.
    func publish(member: UInt32)

    /// Whether a living process of this root owns the namespace.
    func hasLocalOwner() throws(SpaceError) -> Bool

    /// Whether the namespace stays without owners, as of the replica's last entry.
    var isPersistent: Bool { get }

    /// Ends the daemon's use of the replica; it stays.
    func close()

    /// Removes the replica from this root: its processes see that the namespace was deleted.
    func remove() throws(SpaceError)

    /// Moves the replica out of the way without deleting it, so that another can be made.
    ///
    /// - Returns: Where it is now.
    func setAside() throws(SpaceError) -> String
}

/// How far a replica goes with its log.
package struct ReplicaPosition: Hashable, Sendable {
    package let entry: UInt64
    package let link: UInt64
}

/// The first numbers that nothing has had yet: of tuples, and of claims, holds, items and requests.
package struct FreeNumbers: Hashable, Sendable {
    let tuple, other: UInt64

    /// Numbers beyond all that were given out before this moment, unless a namespace gave out 65,536 a second since 2026.
    ///
    /// A tuple's id has 48 bits (``WaitSlots/Word``). So half of all numbers are left, whatever year the clock shows.
    static func ofNow(_ milliseconds: Int64 = Clock.realtimeMilliseconds()) -> FreeNumbers {
        let seconds = UInt64(max(0, milliseconds / 1000 - 1_767_225_600))
        let number = min(seconds, 1 << 31) << 16
        return FreeNumbers(tuple: number, other: number)
    }

    /// The numbers that are free here and there.
    func beyond(_ other: FreeNumbers?) -> FreeNumbers {
        FreeNumbers(tuple: max(tuple, other?.tuple ?? 0), other: max(self.other, other?.other ?? 0))
    }
}

/// A member: a machine's daemon, as long as its lease lasts.
package struct ClusterMember: Hashable, Sendable {
    /// A number that no member had before.
    package let number: UInt32
    /// The machine's name.
    package let machine: String
}

/// What a replica is made of.
package struct ReplicaBase: Sendable {
    package let name: String
    /// The header of the control file of the namespace that the base was made of, encoded.
    package let header: [UInt8]
    package let position: ReplicaPosition
    package let isPersistent: Bool
}

/// The replicas of a root.
package protocol ReplicaRoot: Sendable {
    /// The path of the root's folder.
    var path: String { get }

    /// The names of the replicas that are there; none of them is opened.
    func replicaNames() throws(SpaceError) -> [String]

    /// The paths of the replicas that were set aside.
    func copiesAside() throws(SpaceError) -> [String]

    /// The replica of a name, if there is one.
    func replica(named name: String) throws(SpaceError) -> (any Replica)?

    /// Makes a replica; other processes see it when it is complete.
    ///
    /// - Parameters:
    ///   - base: What the base says beside its rows.
    ///   - nextPart: Returns the parts of ``Replica/forEachPart(_:)`` one by one, and `nil` behind the last.
    /// - Returns: The replica.
    /// - Throws: `incompatible` if there is a namespace of this name in the root.
    func makeReplica(of base: ReplicaBase, nextPart: () throws -> [UInt8]?) throws -> any Replica

    /// Makes a namespace of this root a replica, the first one: nothing but the log writes in it from now on.
    ///
    /// - Parameter name: A namespace that no process holds or claims anything in.
    /// - Returns: The replica, at entry 1, and what its base says.
    /// - Throws: `incompatible` if it is one already, or something in it is claimed or held.
    func found(_ name: String) throws(SpaceError) -> (any Replica, ReplicaBase)

    /// Undoes ``found(_:)``: the namespace is this root's alone again.
    func abandon(_ replica: any Replica) throws(SpaceError)
}
