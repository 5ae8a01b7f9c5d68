import Glibc
package import SpaceSystem
import Synchronization
package import SystemPackage

/// A namespace's control file, mapped: the header, the door, the gate, the words that processes share, and the waiters'
/// slots.
///
/// Guarantees: a process killed at any instruction leaves nothing that its successor can't repair. In mode `fast` the newest
/// tuples, and what was taken since the last commit, are here alone (`near`); of all else the truth is in the database, and
/// every word here is a hint, a lock or a flag that can be rebuilt. No access raises SIGBUS, because the library never
/// truncates the file, and its blocks are reserved before a process uses them; if another program cuts it, `isCut` says so.
///
/// The file also carries locks of the kernel. They end with their process and with the boot, and a clean-up of files
/// can't remove them. All are open-file-description locks, on the file's first byte or on bytes far beyond its end:
/// - The first byte, shared: each process that uses the namespace holds it while it does so. Openers and reapers take
///   it before they trust the header. So an exclusive lock on the whole file, which an `Adoption` takes, proves that no
///   process uses the namespace.
/// - `sessionByte(n)`, exclusive: the process of session n holds it as long as the session lasts. The session's file in
///   `sessions/` only says whose session it is.
package final class ControlFile: Sendable {
    // Layout, in bytes. Words that different processes write often lie on cache lines of their own.
    private static let reinitialiserOffset = 256
    private static let doorOffset = 320
    private static let gateOffset = 448
    private static let writerOffset = 544
    private static let flagsOffset = 576
    private static let persistentOffset = 632
    private static let latencyOffset = 636
    private static let sequenceOffset = 640
    private static let deputyOffset = 656
    private static let clockAheadOffset = 672
    private static let waitingOffset = 704
    private static let waitedKindsOffset = 1024
    private static let startsOffset = waitedKindsOffset + WaitCounts.kindsByteCount
    private static let waitCountsOffset = 4096
    private static let ticketsOffset = waitCountsOffset + WaitCounts.bucketsByteCount
    private static let nearOffset = ticketsOffset + TicketTable.entriesByteCount
    private static let slotsOffset = nearOffset + NearRing.byteCount
    /// The bytes that are reserved from the start: everything but the segments of slots that are added for many
    /// waiters.
    static let firstSize = slotsOffset + WaitSlots.segmentByteCount
    /// The file's length, which is sparse beyond `firstSize` at first.
    package static let size = slotsOffset + WaitSlots.mostSegments * WaitSlots.segmentByteCount

    package static let adoptedElsewhere: UInt32 = 1
    package static let adoptedHere: UInt32 = 2

    /// Each process that uses the file holds a shared lock on the first of these bytes.
    package static let useByte = 0
    private static let firstSessionByte = 1 << 62
    /// Session numbers are below this.
    private static let sessionLimit: UInt64 = 1 << 62

    /// The byte whose lock shows that a session is alive, or `nil` if no session can have this number.
    static func sessionByte(_ number: UInt64) -> Int? {
        (1..<sessionLimit).contains(number) ? firstSessionByte + Int(number) : nil
    }

    /// A descriptor for the file's locks; it shares them with the descriptor that it was duplicated from.
    ///
    /// It is `nil` once this process's use has ended. It is used under the lock, so that it isn't closed during a use.
    private let descriptor: Mutex<OwnedDescriptor?>
    private let map: MappedFile
    /// Whether the end of this object ends this process's use of the namespace, and with it the lock on `useByte`.
    private let endsUse: Bool
    private let forkGeneration = ForkGuard.generation
    package let header: ControlHeader
    package let identity: FileInfo

    /// The lock for opening, enrolling, leaving and reaping.
    ///
    /// A process that needs both locks takes it before the gate.
    package let door: ProcessLock
    /// The lock for writing, and for new reader slots.
    package let gate: ProcessLock
    /// The last writer's thread and processor (`LastWriter`); it shares the cache line of the gate's words.
    let writer: SharedWord64

    /// Set once, under the door, by the reaper.
    package let dead: SharedWord32
    /// Whether the namespace stays without owners, and whether it is a replica.
    package let staying: StayingWord
    /// The switch of the measuring of latencies: odd while they are measured, and raised at each switch (`LatencyFile`).
    ///
    /// It is changed under the door.
    package let latency: SharedWord32
    /// Set when the namespace was adopted, and cleared when its claims have returned.
    ///
    /// It is `adoptedHere` if the PIDs from before the adoption still mean the same processes, else `adoptedElsewhere`.
    package let isAdopted: SharedWord32
    /// Set when the gate is taken over from a killed holder, until the state that the holder left is repaired.
    package let gateNeedsRecovery: SharedWord32
    /// Whether a watcher that listens to the change signal has nothing left to read.
    ///
    /// The next writer with news clears the word and signals.
    let isSignalAwaited: SharedWord32
    /// The count in the number that the next session gets (`SessionNumber`).
    ///
    /// The word survives the kill of a process, because it is mapped memory. It need not survive a reboot, after which
    /// no session lives.
    package let nextSession: SharedWord64
    /// Raised when a session claims for the first time, and when a process claims for another process.
    ///
    /// A waiter that sees it change looks for the processes whose ends it has to listen for.
    package let claimants: SharedWord32
    /// The member as which this machine takes part in a replicated namespace, or 0: no daemon has joined with it yet, or
    /// the namespace is this machine's alone.
    ///
    /// The daemon writes it; a session carries the member of its time.
    package let member: SharedWord32
    /// How far a replica's clock is ahead of the header's, in milliseconds: it is set forward by entries of machines whose
    /// clock is ahead, and never back.
    package let clockAhead: SharedWord64
    /// The process that ticks for all that wait or watch.
    package let ticker: TickerSeat
    /// The process that looks whether the ticker is stopped.
    package let deputy: TickerSeat
    /// The inode of the LMDB lock file that the namespace's users have open, or 0 if none has had one open yet.
    package let lockFile: SharedWord64
    /// The number of the last change whose commit was announced.
    ///
    /// It is a hint: the exact number is in the database.
    package let sequence: SharedWord64
    /// How far the data file's blocks are reserved, in bytes.
    package let reserved: SharedWord64
    package let slots: WaitSlots
    /// The newest tuples, in mode `fast`; in the other modes it stays empty.
    package let near: NearRing

    /// Whether the file was cut short while this process has it mapped.
    package var isCut: Bool { map.isCut }

    /// Maps the file.
    ///
    /// - `isPrivate`: Whether the words are this process's own copy, for a file that can only be read.
    /// - `endsUse`: Whether the caller has locked `useByte` for as long as this object lives.
    package init(
        descriptor: CInt,
        header: ControlHeader,
        identity: FileInfo,
        isPrivate: Bool = false,
        endsUse: Bool = false
    ) throws(Errno) {
        self.endsUse = endsUse
        self.descriptor = Mutex(try OwnedDescriptor.duplicate(of: descriptor))
        if !isPrivate { try Blocks.unshare(descriptor, to: Self.firstSize) }
        map = try MappedFile(descriptor: descriptor, length: Self.size, isPrivate: isPrivate)
        self.header = header
        self.identity = identity
        // The starts of the lines, after the counts of waiters by kind, end where the other counts begin.
        precondition(Self.startsOffset + TicketTable.startsByteCount <= Self.waitCountsOffset)
        let base = map.base
        door = try ProcessLock(.door, at: base + Self.doorOffset)
        gate = try ProcessLock(.gate, at: base + Self.gateOffset)
        writer = SharedWord64(at: base + Self.writerOffset)
        dead = SharedWord32(at: base + Self.flagsOffset)
        staying = StayingWord(SharedWord32(at: base + Self.persistentOffset))
        latency = SharedWord32(at: base + Self.latencyOffset)
        gateNeedsRecovery = SharedWord32(at: base + Self.flagsOffset + 8)
        isAdopted = SharedWord32(at: base + Self.flagsOffset + 4)
        isSignalAwaited = SharedWord32(at: base + Self.flagsOffset + 12)
        nextSession = SharedWord64(at: base + Self.flagsOffset + 16)
        claimants = SharedWord32(at: base + Self.flagsOffset + 24)
        member = SharedWord32(at: base + Self.flagsOffset + 28)
        clockAhead = SharedWord64(at: base + Self.clockAheadOffset)
        lockFile = SharedWord64(at: base + Self.flagsOffset + 32)
        ticker = TickerSeat(at: base + Self.flagsOffset + 40)
        deputy = TickerSeat(at: base + Self.deputyOffset)
        sequence = SharedWord64(at: base + Self.sequenceOffset)
        reserved = SharedWord64(at: base + Self.sequenceOffset + 8)
        near = NearRing(at: base + Self.nearOffset)
        slots = WaitSlots(
            summary: base + Self.waitingOffset,
            kinds: base + Self.waitedKindsOffset,
            buckets: base + Self.waitCountsOffset,
            tickets: TicketTable(starts: base + Self.startsOffset, entries: base + Self.ticketsOffset),
            segments: base + Self.slotsOffset
        )
    }

    deinit {
        // A child made by fork must not release its parent's lock.
        if endsUse, ForkGuard.generation == forkGeneration { endUse() }
    }

    /// Ends this process's use of the namespace before this object ends: releases the locks, and closes the file.
    ///
    /// The words stay mapped. No thread may change any of them afterwards, and functions that ask the kernel throw
    /// `EBADF`.
    package func endUse() {
        descriptor.withLock { kept in
            // A child that this process is starting has the open file too until it calls exec, and would keep the lock for
            // that long if the descriptor were only closed.
            if endsUse, let raw = kept?.raw { try? FileLock.unlock(raw, byte: Self.useByte) }
            kept = nil
        }
    }

    private func withDescriptor<R>(_ body: (CInt) throws(Errno) -> R) throws(Errno) -> R {
        try descriptor.withLock { (kept) throws(Errno) in
            guard let raw = kept?.raw else { throw .badFileDescriptor }
            return try body(raw)
        }
    }

    /// How many bytes are reserved for a number of segments of slots.
    private static func reservedSize(segments: Int) -> Int { slotsOffset + segments * WaitSlots.segmentByteCount }

    /// Reserves the blocks that a new file needs, and gives the file its length; `descriptor` is the file's.
    package static func reserve(_ descriptor: CInt) throws(Errno) {
        try Blocks.reserve(descriptor, from: 0, to: firstSize, keepSize: false)
        guard try FileInfo.of(descriptor).size < size else { return }
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Reserves the segments of slots that the file says it has.
    package func reserveSegments() throws(Errno) {
        let end = Self.reservedSize(segments: slots.segments)
        try withDescriptor { (raw) throws(Errno) in
            try Blocks.reserve(raw, from: Self.firstSize, to: end, keepSize: false)
        }
    }

    /// Reserves the blocks of one segment of slots more than `known`, and then announces it.
    package func addSegment(beyond known: Int) throws(Errno) {
        let start = Self.reservedSize(segments: known)
        try withDescriptor { (raw) throws(Errno) in
            try Blocks.reserve(raw, from: start, to: start + WaitSlots.segmentByteCount, keepSize: false)
        }
        slots.addSegment(beyond: known)
    }

    /// Initialises the volatile part again: fresh mutexes, and no waiters.
    ///
    /// The caller must know that no other process can use the file. The newest tuples stay, and the first holder of the
    /// gate compares them with the database.
    ///
    /// The words that say whether the namespace is persistent, and whether latencies are measured, never change during
    /// this, so that a kill can't lose them.
    package func initialiseVolatilePart() throws(Errno) {
        func clear(_ range: Range<Int>) {
            (map.base + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: range.count)
        }
        clear(Self.reinitialiserOffset + 4..<Self.persistentOffset)
        clear(Self.latencyOffset + 4..<Self.nearOffset)
        clear(Self.slotsOffset..<Self.reservedSize(segments: slots.segments))
        try door.initialise()
        try gate.initialise()
        nextSession.store(1)
        gateNeedsRecovery.store(1)
    }

    /// Writes the mapping to the disk: in mode `durable`, after a change that has to last.
    package func sync() throws(Errno) {
        guard msync(map.base, Self.firstSize, MS_SYNC) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Reserves the blocks that a file restored in place lacks, while no other process uses the namespace.
    ///
    /// The next writer reserves those of the data file: if some are missing, `reserved` becomes 0, so that it starts
    /// from the beginning.
    package func reserveAgain(data: FileInfo?) throws(Errno) {
        let end = Self.reservedSize(segments: slots.segments)
        try withDescriptor { (raw) throws(Errno) in
            if try FileInfo.of(raw).allocated < end { try Blocks.reserve(raw, from: 0, to: end, keepSize: true) }
        }
        if let data, data.allocated < Int(clamping: reserved.load()) { reserved.store(0) }
    }

    // MARK: The kernel's locks

    /// Whether another process has the namespace open, or another open file of this process has.
    func isUsedByOthers() throws(Errno) -> Bool {
        try withDescriptor { (raw) throws(Errno) in try !Self.lockedSessions(in: raw).isEmpty }
    }

    /// Whether the file still has a name; if it has none, the namespace's folder was removed.
    ///
    /// The name itself is not looked up: it may not be visible from here (chroot(2), another mount namespace) while
    /// other processes use it.
    package var isLinked: Bool {
        guard let info = try? withDescriptor({ (raw) throws(Errno) in try FileInfo.of(raw) }) else { return true }
        map.note(size: info.size)
        return info.linkCount > 0
    }

    /// Locks a session's byte until this object and its descriptor end, or until `unlock(session:)`.
    ///
    /// - Returns: `false` if another process has a session with this number.
    package func lock(session number: UInt64) throws(Errno) -> Bool {
        guard let byte = Self.sessionByte(number) else { return false }
        return try withDescriptor { (raw) throws(Errno) in try FileLock.tryExclusive(raw, byte: byte) }
    }

    /// Must not be called in a child made by fork, whose descriptor shares the parent's lock.
    package func unlock(session number: UInt64) {
        guard let byte = Self.sessionByte(number) else { return }
        try? withDescriptor { (raw) throws(Errno) in try FileLock.unlock(raw, byte: byte) }
    }

    /// Whether another process, or another open file of this one, holds a session's lock.
    package func isLocked(session number: UInt64) throws(Errno) -> Bool {
        try withDescriptor { (raw) throws(Errno) in try Self.isLocked(session: number, in: raw) }
    }

    /// Whether another process may hold a session's lock: it does, or the kernel could not be asked.
    package func mayLive(session number: UInt64) -> Bool { (try? isLocked(session: number)) ?? true }

    package static func isLocked(session number: UInt64, in descriptor: CInt) throws(Errno) -> Bool {
        guard let byte = sessionByte(number) else { return false }
        return try FileLock.isHeldByAnother(descriptor, byte: byte)
    }

    /// The sessions whose locks other open files hold; if there are very many, only some of them.
    static func lockedSessions(in descriptor: CInt) throws(Errno) -> [UInt64] {
        try FileLock.heldByOthers(descriptor, from: firstSessionByte + 1, limit: 65_536).map {
            UInt64($0.lowerBound - firstSessionByte)
        }
    }

    /// Marks a namespace dead in a file that can't be mapped, for the processes that have mapped it; if it was cut, they
    /// notice that.
    package static func markDead(_ descriptor: CInt) {
        guard let info = try? FileInfo.of(descriptor), info.size >= size else { return }
        try? FileBytes.write([1, 0, 0, 0], to: descriptor, at: flagsOffset)
    }

    /// Reads from the file, without mapping it, whether the namespace is being deleted and whether it stays without
    /// owners.
    package static func flags(in descriptor: CInt) throws(Errno) -> (isDead: Bool, stays: Bool, isReplica: Bool) {
        let bytes = try FileBytes.readPrefix(descriptor, count: persistentOffset + 4)
        guard bytes.count == persistentOffset + 4 else { throw .ioError }
        return bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: flagsOffset, as: UInt32.self) != 0,
                $0.loadUnaligned(fromByteOffset: persistentOffset, as: UInt32.self) != 0,
                StayingWord.isReplica($0.loadUnaligned(fromByteOffset: persistentOffset, as: UInt32.self))
            )
        }
    }

    /// Reads the near end, without mapping the file; `false` if the file is too short.
    static func readNear(_ descriptor: CInt, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        pread(descriptor, bytes.baseAddress, bytes.count, off_t(nearOffset)) == bytes.count
    }

    /// The near end's word, without mapping the file.
    static func nearWord(_ descriptor: CInt) -> UInt64? {
        var word: UInt64 = 0
        return pread(descriptor, &word, 8, off_t(nearOffset)) == 8 ? word : nil
    }

    // MARK: The door

    /// Takes the door, even from a thread that no longer exists.
    ///
    /// No recovery is needed if an owner of the door was killed: every holder checks the state that it can have left.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; an opener waits longer while the door changes hands.
    ///   - openControl: Opens the namespace's control file, if the path still leads to it.
    /// - Returns: The door, held.
    /// - Throws: `holderStopped` and `holderBusy`.
    package func takeDoor(timeout: Duration, openControl: () -> OwnedDescriptor?) throws(SpaceError) -> HeldDoor {
        do throws(ProcessLock.Failure) {
            _ = try enterDoor { () throws(ProcessLock.Failure) in
                try door.acquire(timeout: timeout, openControl: openControl)
            }
            return HeldDoor(control: self)
        } catch {
            throw SpaceError(error)
        }
    }

    /// Takes the door in the same way, for a caller that has the namespace's folder open.
    package func takeDoor(timeout: Duration, of folder: borrowing NamespaceFolder) throws(SpaceError) -> HeldDoor {
        let files = folder.files
        return try takeDoor(timeout: timeout) { try? files.open(NamespaceFolder.control, flags: O_RDWR) }
    }

    /// Takes the door by `acquire`; if that fails, it names the process that blocks the caller.
    ///
    /// The door's holder may itself wait for the gate. In that case, if the gate's holder is stopped, that process
    /// blocks both.
    package func enterDoor<R>(_ acquire: () throws(ProcessLock.Failure) -> R) throws(ProcessLock.Failure) -> R {
        let before = gate.progress
        do throws(ProcessLock.Failure) {
            return try acquire()
        } catch {
            guard error.errno == nil, error.halt == nil, error.orphanedBy == 0,
                let culprit = gate.stoppedHolder(since: before)
            else { throw error }
            throw culprit
        }
    }

    // MARK: Making it again

    /// The PID of the process that re-initialises the file, which waiting processes can name, or 0 if unknown.
    static func reinitialiserPID(in descriptor: CInt) -> Int32 {
        var pid: Int32 = 0
        let count = withUnsafeMutableBytes(of: &pid) {
            pread(descriptor, $0.baseAddress, 4, off_t(reinitialiserOffset))
        }
        return count == 4 ? pid : 0
    }

    package static func announceReinitialiser(pid: Int32, in descriptor: CInt) throws(Errno) {
        try FileBytes.write(withUnsafeBytes(of: pid) { Array($0) }, to: descriptor, at: reinitialiserOffset)
    }
}

/// The door of a namespace, held until it is released or this value's life ends.
package struct HeldDoor: ~Copyable {
    /// Kept, because the door is in its map, and an opener that fails releases the file before the door.
    fileprivate let control: ControlFile

    package consuming func release() {}

    deinit { control.door.release() }
}
