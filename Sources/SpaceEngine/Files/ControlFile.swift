import Glibc
package import SpaceSystem
package import SystemPackage

/// A namespace's control file, mapped: the header, the door, the gate, the words that processes tell each other, and the
/// waiters' slots.
///
/// What it guarantees: nothing here is the truth about tuples; the database is. Every word is a hint, a lock or a flag
/// that can be rebuilt, so that a process killed at any instruction leaves nothing that its successor can't mend. The file
/// is never truncated, and its blocks are reserved before a process uses them, so no access raises SIGBUS.
///
/// The file also carries the kernel's locks, which outlive nothing: neither their process nor the boot, and no clean-up of
/// files can remove them. All are open-file-description locks on bytes far beyond the file's end, or on its first byte:
/// - the first byte, shared: held by each process as long as it uses the namespace, and by openers and reapers from before they
///   trust the header. So an exclusive lock on the whole file, which an `Adoption` takes, proves that no process uses it.
/// - `sessionByte(n)`, exclusive: held by the process of session n as long as that lasts. Its file in `sessions/` only says
///   whose it is.
package final class ControlFile: Sendable {
    // Layout, in bytes. Words that different processes write often lie on cache lines of their own.
    private static let reinitialiserOffset = 256
    private static let doorOffset = 320
    private static let gateOffset = 448
    private static let flagsOffset = 576
    private static let persistentOffset = 632
    private static let sequenceOffset = 640
    private static let waitingOffset = 704
    private static let waitedKindsOffset = 1024
    private static let waitCountsOffset = 4096
    private static let slotsOffset = waitCountsOffset + WaitCounts.bucketsByteCount
    /// What is reserved from the beginning on: all but the segments of slots that a crowd adds.
    static let firstSize = slotsOffset + WaitSlots.segmentByteCount
    /// The file's length; beyond `firstSize` it is sparse at first.
    package static let size = slotsOffset + WaitSlots.mostSegments * WaitSlots.segmentByteCount

    package static let adoptedElsewhere: UInt32 = 1
    package static let adoptedHere: UInt32 = 2

    /// Of these bytes the first is locked, shared, by whoever uses the file.
    package static let useByte = 0
    private static let firstSessionByte = 1 << 62
    /// Session numbers are below this.
    package static let sessionLimit: UInt64 = 1 << 62

    /// The byte whose lock shows that a session lives; `nil` for a number that no session has.
    static func sessionByte(_ number: UInt64) -> Int? {
        (1..<sessionLimit).contains(number) ? firstSessionByte + Int(number) : nil
    }

    /// Open for its locks; shares them with the descriptor that it was made from.
    private let descriptor: OwnedDescriptor
    private let map: MappedFile
    package let header: ControlHeader
    package let identity: FileInfo

    /// For opening, enrolling, leaving, reaping.
    ///
    /// Taken before the gate.
    package let door: ProcessLock
    /// For writing, and for new reader slots.
    package let gate: ProcessLock

    /// Set once, under the door, by whoever reaps.
    package let dead: SharedWord32
    /// Whether the namespace stays without owners.
    ///
    /// Changed under the door.
    package let persistent: SharedWord32
    /// Set when the namespace was adopted, until its claims have returned: `adoptedElsewhere`, or `adoptedHere` if the PIDs of
    /// before mean the same processes now.
    package let isAdopted: SharedWord32
    /// Set while the gate was taken over from a killed holder and what he left is not yet mended.
    package let gateNeedsRecovery: SharedWord32
    /// Whether somebody who listens to the bell has nothing left to read: the next writer with news takes it back and rings.
    let isSignalAwaited: SharedWord32
    /// The number that the next session gets.
    ///
    /// Survives a kill, as mapped memory does; after a reboot no session lives.
    package let nextSession: SharedWord64
    /// Raised when a session claims for the first time, and when somebody claims for a process: who waits looks then whose
    /// end to listen for.
    package let claimants: SharedWord32
    /// The inode of the LMDB lock file that the namespace's users have open; 0: none has had one open yet.
    package let lockFile: SharedWord64
    /// The number of the last change whose commit was announced.
    ///
    /// A hint: the database knows better.
    package let sequence: SharedWord64
    /// How far the data file's blocks are reserved, in bytes.
    package let reserved: SharedWord64
    package let slots: WaitSlots

    /// With `isPrivate` the words are a copy of this process's own: for a file that can only be read.
    package init(descriptor: CInt, header: ControlHeader, identity: FileInfo, isPrivate: Bool = false) throws(Errno) {
        self.descriptor = try OwnedDescriptor.duplicate(of: descriptor)
        if !isPrivate { try Blocks.unshare(descriptor, to: Self.firstSize) }
        map = try MappedFile(descriptor: descriptor, length: Self.size, isPrivate: isPrivate)
        self.header = header
        self.identity = identity
        let base = map.base
        door = try ProcessLock(.door, at: base + Self.doorOffset)
        gate = try ProcessLock(.gate, at: base + Self.gateOffset)
        dead = SharedWord32(at: base + Self.flagsOffset)
        persistent = SharedWord32(at: base + Self.persistentOffset)
        gateNeedsRecovery = SharedWord32(at: base + Self.flagsOffset + 8)
        isAdopted = SharedWord32(at: base + Self.flagsOffset + 4)
        isSignalAwaited = SharedWord32(at: base + Self.flagsOffset + 12)
        nextSession = SharedWord64(at: base + Self.flagsOffset + 16)
        claimants = SharedWord32(at: base + Self.flagsOffset + 24)
        lockFile = SharedWord64(at: base + Self.flagsOffset + 32)
        sequence = SharedWord64(at: base + Self.sequenceOffset)
        reserved = SharedWord64(at: base + Self.sequenceOffset + 8)
        slots = WaitSlots(
            summary: base + Self.waitingOffset,
            kinds: base + Self.waitedKindsOffset,
            buckets: base + Self.waitCountsOffset,
            segments: base + Self.slotsOffset
        )
    }

    /// How many bytes are reserved while there are so many segments of slots.
    private static func reservedSize(segments: Int) -> Int { slotsOffset + segments * WaitSlots.segmentByteCount }

    /// Reserves what a new file needs, and gives it its length; the descriptor is the file's.
    package static func reserve(_ descriptor: CInt) throws(Errno) {
        try Blocks.reserve(descriptor, from: 0, to: firstSize, keepSize: false)
        guard try FileInfo.of(descriptor).size < size else { return }
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Reserves the segments of slots that the file says it has.
    package func reserveSegments() throws(Errno) {
        let end = Self.reservedSize(segments: slots.segments)
        try Blocks.reserve(descriptor.raw, from: Self.firstSize, to: end, keepSize: false)
    }

    /// Adds a segment of slots to `known` ones.
    package func addSegment(beyond known: Int) throws(Errno) {
        let start = Self.reservedSize(segments: known)
        try Blocks.reserve(descriptor.raw, from: start, to: start + WaitSlots.segmentByteCount, keepSize: false)
        slots.addSegment(beyond: known)
    }

    /// Makes the volatile part anew: fresh mutexes, nobody waiting.
    ///
    /// Only while nobody else can use the file.
    ///
    /// Whether the namespace is persistent is kept, without a moment in which it is not: a kill must not lose it.
    package func initialiseVolatilePart() throws(Errno) {
        func clear(_ range: Range<Int>) {
            (map.base + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: range.count)
        }
        clear(Self.reinitialiserOffset + 4..<Self.persistentOffset)
        clear(Self.persistentOffset + 4..<Self.reservedSize(segments: slots.segments))
        try door.initialise()
        try gate.initialise()
        nextSession.store(1)
    }

    /// Writes it to the disk (`.durable`, after a change that has to last).
    package func sync() throws(Errno) {
        guard msync(map.base, Self.firstSize, MS_SYNC) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Takes the blocks that a file restored in place lacks; while no other process uses the namespace.
    ///
    /// The data file's are taken by the next writer, who is told to begin anew where some are missing.
    package func reserveAgain(data: FileInfo?) throws(Errno) {
        let end = Self.reservedSize(segments: slots.segments)
        if try FileInfo.of(descriptor.raw).allocated < end {
            try Blocks.reserve(descriptor.raw, from: 0, to: end, keepSize: true)
        }
        if let data, data.allocated < Int(clamping: reserved.load()) { reserved.store(0) }
    }

    // MARK: The kernel's locks

    /// Whether another process has the namespace open, or another open file of this one.
    func isUsedByOthers() throws(Errno) -> Bool { try !Self.lockedSessions(in: descriptor.raw).isEmpty }

    /// Whether the file still has a name: if not, the namespace's folder was removed.
    ///
    /// The name itself is not asked for: it may not be visible from here (chroot(2), another mount namespace), while others use it.
    package var isLinked: Bool { ((try? FileInfo.of(descriptor.raw))?.linkCount ?? 1) > 0 }

    /// Locks a session's byte for as long as this object and its descriptor last, or until `unlock(session:)`.
    ///
    /// - Returns: `false` when another process has a session of that number.
    package func lock(session number: UInt64) throws(Errno) -> Bool {
        guard let byte = Self.sessionByte(number) else { return false }
        return try FileLock.tryExclusive(descriptor.raw, byte: byte)
    }

    /// Never called in a child made by fork, whose descriptor shares the parent's lock.
    package func unlock(session number: UInt64) {
        if let byte = Self.sessionByte(number) { try? FileLock.unlock(descriptor.raw, byte: byte) }
    }

    /// Whether another process, or another open file of this one, holds a session's lock.
    package func isLocked(session number: UInt64) throws(Errno) -> Bool {
        try Self.isLocked(session: number, in: descriptor.raw)
    }

    /// Whether a session's lock is held by another, or can't be asked.
    package func mayLive(session number: UInt64) -> Bool { (try? isLocked(session: number)) ?? true }

    package static func isLocked(session number: UInt64, in descriptor: CInt) throws(Errno) -> Bool {
        guard let byte = sessionByte(number) else { return false }
        return try FileLock.isHeldByAnother(descriptor, byte: byte)
    }

    /// The sessions whose locks other open files hold; of very many, some.
    static func lockedSessions(in descriptor: CInt) throws(Errno) -> [UInt64] {
        try FileLock.heldByOthers(descriptor, from: firstSessionByte + 1, limit: 65_536).map {
            UInt64($0.lowerBound - firstSessionByte)
        }
    }

    /// What a file says of whether its namespace is being deleted, and whether it stays without owners; read without mapping it.
    package static func marks(in descriptor: CInt) throws(Errno) -> (isDead: Bool, isPersistent: Bool) {
        let bytes = try FileBytes.readPrefix(descriptor, count: persistentOffset + 4)
        guard bytes.count == persistentOffset + 4 else { throw .ioError }
        return bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: flagsOffset, as: UInt32.self) != 0,
                $0.loadUnaligned(fromByteOffset: persistentOffset, as: UInt32.self) != 0
            )
        }
    }

    // MARK: The door

    /// Takes the door by `acquire`, and says who stands in the way where that fails.
    ///
    /// The door's holder may itself wait for the gate: then the gate's holder stands in the way of both, if it is stopped.
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

    // MARK: Making it anew

    /// The PID of the process that re-initialises the file, so that those who wait for it can name it; 0 if unknown.
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
