import SpaceInspection
import SpaceMachines
import SpaceSystem
import Synchronization
import SystemPackage

/// A replica of this root, in the namespace's own files.
///
/// The daemon opens it without owning it. Its transactions are the daemon's: they need no member that takes part, because
/// they take members in and out.
final class LocalReplica: Replica {
    private let namespace: Namespace
    private let core: NamespaceCore
    private let timeout: Duration

    /// Takes over a handle on a replica, or on a namespace that is about to be one.
    init(_ namespace: Namespace, timeout: Duration) {
        self.namespace = namespace
        self.timeout = timeout
        core = namespace.core
        core.engine.sessionMember = nil
    }

    var name: String { namespace.name }
    var life: NamespaceLife { namespace.life }
    var isPersistent: Bool { core.control.staying.isPersistent }

    // MARK: The log

    func reachLog(by exchange: @escaping @Sendable () -> any DaemonExchange) { core.daemon.ownExchange = exchange }

    func position() throws(SpaceError) -> ReplicaPosition {
        try core.read { (snapshot) throws(SpaceError) in try snapshot.replicaPosition() }
    }

    func apply(_ entry: [UInt8]) throws(SpaceError) -> Bool { try core.engine.log.apply(try EntryBytes(entry)) }

    func links(of entry: [UInt8]) -> (before: UInt64, behind: UInt64)? {
        (try? EntryBytes(entry)).map { ($0.linkBefore, $0.link) }
    }

    private static let partBytes = 512 << 10

    func forEachPart(_ visit: ([UInt8]) throws -> Void) throws -> ReplicaPosition {
        let reader = try core.engine.lendReaderOfTables()
        defer { core.engine.takeBack(reader) }
        let snapshot = core.engine.snapshot(of: reader)
        var part: [UInt8] = []
        var failure: (any Error)?
        do throws(SpaceError) {
            try snapshot.forEachRow { (row) throws(SpaceError) in
                row.append(to: &part)
                guard part.count >= Self.partBytes else { return }
                do {
                    try visit(part)
                } catch {
                    failure = error
                    throw SpaceError(.cancelled, reason: "a part was not taken")
                }
                part.removeAll(keepingCapacity: true)
            }
        } catch {
            throw failure ?? error
        }
        try reader.checkUndamaged()
        if !part.isEmpty { try visit(part) }
        return try snapshot.replicaPosition()
    }

    func goOn(from base: ReplicaBase, nextPart: () throws -> [UInt8]?) throws {
        let clock = try base.decodedHeader().clock
        let position = LogPosition(entry: base.position.entry, end: 0, link: base.position.link)
        let (difference, commit) = try difference(to: nextPart)
        let isDone = try core.engine.log.goOn(
            from: (position, clock, base.isPersistent),
            by: difference,
            since: commit
        )
        guard isDone else {
            throw SpaceError(
                .holderBusy,
                reason: "another process has changed it while it was compared with the base",
                advice: "wait: the daemon tries again"
            )
        }
    }

    /// How the rows of a base differ from the replica's, as of a commit.
    private func difference(to nextPart: () throws -> [UInt8]?) throws -> (changes: [UInt8], commit: Int) {
        let reader = try core.engine.lendReaderOfTables()
        defer { core.engine.takeBack(reader) }
        let snapshot = core.engine.snapshot(of: reader)
        var difference = try RowDifference(from: snapshot)
        while let part = try nextPart() {
            try part.withBytes { (bytes) throws(SpaceError) in
                _ = try RowChange.forEach(in: bytes) { (row) throws(SpaceError) in try difference.compare(row) }
            }
        }
        try difference.end()
        try reader.checkUndamaged()
        return (difference.changes, snapshot.commit)
    }

    // MARK: Members

    func members() throws(SpaceError) -> [ClusterMember] {
        try core.read { (snapshot) throws(SpaceError) in
            try snapshot.members().map { ClusterMember(number: $0.number, machine: $0.name) }
        }
    }

    func freeNumbers() throws(SpaceError) -> FreeNumbers {
        let counters = try core.read { (snapshot) throws(SpaceError) in try snapshot.counters() }
        return FreeNumbers(tuple: counters.nextTuple, other: counters.nextNumber)
    }

    func enter(_ member: ClusterMember, from numbers: FreeNumbers?) throws(SpaceError) {
        try core.write(.removing) { (scope) throws(SpaceError) in
            if let numbers {
                scope.counters.nextTuple = max(scope.counters.nextTuple, numbers.tuple)
                scope.counters.nextNumber = max(scope.counters.nextNumber, numbers.other)
            } else if try scope.memberRows.contains(UInt64(member.number)) {
                return
            }
            try scope.memberRows.put(UInt64(member.number), MemberRow(name: member.machine))
            scope.noteUpkeep()
        }
    }

    func tellTime(as member: UInt32) throws(SpaceError) {
        try core.write(.removing) { (scope) throws(SpaceError) in
            guard let row = try scope.memberRows.get(UInt64(member)) else { return }
            try scope.memberRows.put(UInt64(member), row)
            scope.noteUpkeep()
        }
    }

    func end(_ member: UInt32) throws(SpaceError) {
        do throws(SpaceError) {
            try end(member, returningClaims: true)
        } catch  where error.isOfContent {
            try end(member, returningClaims: false)
        }
        // The member's sessions are dead from now on, to all machines; this returns what the one commit had no room for.
        core.dropRegistrations(of: .theDead, timeout: timeout)
        try core.endedHolders.endTheDead(timeout: timeout)
    }

    /// Ends a member, and with it the claims of its sessions: a process that is told that its claim is lost finds the tuple
    /// in its place.
    private func end(_ member: UInt32, returningClaims: Bool) throws(SpaceError) {
        try core.write(.removing) { (scope) throws(SpaceError) in
            guard try scope.memberRows.delete(UInt64(member)) else { return }
            scope.logged.absentMember = member
            scope.noteUpkeep()
            if returningClaims { try EndedHolders.returnClaims(in: scope) { $0.member == member } }
        }
    }

    func endDeadProcesses() throws(SpaceError) {
        core.dropRegistrations(of: .theDead, timeout: Engine.upkeepPatience)
        try core.endedHolders.endTheDead(timeout: Engine.upkeepPatience)
    }

    func publish(member: UInt32) { core.control.member.store(member) }

    // MARK: Operations of processes

    func execute(_ operation: OperationMessage, while isAwaited: @escaping @Sendable () -> Bool) async
        -> (OperationAnswer, isUnchanged: Bool)
    {
        let isPersistent = isPersistent
        let done = Mutex((result: OperationAnswer.notHere, numbers: 0..<UInt64(0), isUnchanged: false))
        return await withCheckedContinuation { continuation in
            core.engine.submit(operation.purpose) { (scope) throws(SpaceError) in
                let first = scope.counters.nextNumber
                done.withLock { $0.isUnchanged = true }
                let result = isAwaited() ? try operation.execute(in: scope) : .notHere
                let isUnchanged = !scope.hasOwnChanges(isPersistent: isPersistent)
                done.withLock { $0 = (result, scope.numbers(since: first), isUnchanged) }
            } completion: { [core] error in
                let done = done.withLock { $0 }
                if let error { core.letGo(after: error, of: done.numbers, session: operation.session) }
                continuation.resume(returning: (error.map { .failed($0) } ?? done.result, done.isUnchanged))
            }
        }
    }

    // MARK: Owners, and the end

    func hasLocalOwner() throws(SpaceError) -> Bool {
        let folder = try core.engine.presentFolder()
        let sessions = try folder.sessions(makingAnew: true)
        return try system("its sessions") { () throws(Errno) in try sessions.hasLivingOwner() }
    }

    func close() { try? namespace.leave() }

    // Only a namespace of this life is removed or set aside: a process that has seen the replica's end may have made another
    // namespace of the name already.

    func remove() throws(SpaceError) {
        close()
        let remover = NamespaceRemover(root: core.root, timeout: timeout)
        _ = try remover.delete(core.name, of: life, host: try .current())
    }

    func setAside() throws(SpaceError) -> String {
        close()
        let remover = NamespaceRemover(root: core.root, timeout: timeout)
        let path = try remover.setAside(core.name, of: life, into: LocalReplicas.asideFolder, host: try .current())
        return path ?? "nowhere: it has gone meanwhile"
    }

    // MARK: Becoming a replica

    /// Makes the namespace a replica, at entry 1 of a log to be; nothing may be claimed, held or watched in it.
    func found() throws(SpaceError) -> ReplicaPosition {
        let link = hash64(core.control.header.life.number.littleEndianBytes)
        try core.engine.log.commitUnlogged { () throws(SpaceError) in
            let scope = core.engine.scope
            guard scope.counters.logEntry == 0 else {
                throw .incompatible(
                    "its commits are logged already",
                    advice: "look with space show, and end the log first: space backup NS --no-log"
                )
            }
            guard scope.counters.claimed == 0, scope.counters.holds == 0, try !scope.snapshot.isWatched() else {
                throw .incompatible(
                    "something in it is claimed, held or watched by processes of this machine",
                    advice: "look with space show, and let them end that first"
                )
            }
            try scope.log.begin(at: LogPosition(entry: 1, end: 0, link: link), path: LogRow.ofMembers, isStandby: false)
            core.control.staying.set(isReplica: true)
        }
        return ReplicaPosition(entry: 1, link: link)
    }

    /// Makes the namespace this root's alone again.
    func abandon() throws(SpaceError) {
        try core.engine.log.commitUnlogged { () throws(SpaceError) in
            let scope = core.engine.scope
            for (number, _) in try scope.snapshot.members() { try scope.memberRows.delete(UInt64(number)) }
            try scope.log.end()
            core.control.staying.set(isReplica: false)
            core.control.member.store(0)
        }
    }

    /// What a base says of the namespace beside its rows: the header of its control file, and its clock.
    var header: [UInt8] { core.control.header.encoded() + core.clock.milliseconds.littleEndianBytes }
}

extension Snapshot {
    /// How far the replica goes with the machines' log.
    fileprivate func replicaPosition() throws(SpaceError) -> ReplicaPosition {
        guard let row = try mainLog.get(.log), row.isOfMembers else {
            throw .incompatible("it is no replica any more", advice: "look at it with space show")
        }
        return ReplicaPosition(entry: try counters().logEntry, link: row.link)
    }

    /// Whether a process watches the namespace now.
    fileprivate func isWatched() throws(SpaceError) -> Bool { try watchers().contains { $0.row.session != 0 } }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
