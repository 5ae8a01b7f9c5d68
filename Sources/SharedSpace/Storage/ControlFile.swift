import Glibc
import SpaceSystem
import SystemPackage

/// A namespace's control file, mapped: the header, the door, the gate, the words that processes tell each other, and the
/// waiters' slots.
///
/// What it guarantees: nothing here is the truth about tuples; the database is. Every word is a hint, a lock or a flag
/// that can be rebuilt, so that a process killed at any instruction leaves nothing that its successor can't mend. The file
/// is never truncated and its blocks are reserved before it is mapped by anybody, so no access raises SIGBUS.
final class ControlFile: Sendable {
    // Layout, in bytes. Words that different processes write often lie on cache lines of their own.
    private static let reinitialiserOffset = 256
    private static let doorOffset = 320
    private static let gateOffset = 448
    private static let flagsOffset = 576
    private static let persistentOffset = 632
    private static let sequenceOffset = 640
    private static let waitingOffset = 704
    private static let waitedKindsOffset = 1024
    static let slotKeysOffset = 4096
    static let size = slotKeysOffset + WaitSlots.byteCount

    private let map: MappedFile
    let header: ControlHeader
    let identity: FileInfo

    /// For opening, enrolling, leaving, reaping.
    ///
    /// Taken before the gate.
    let door: ProcessLock
    /// For writing, and for new reader slots.
    let gate: ProcessLock

    /// Set once, under the door, by whoever reaps.
    let dead: SharedWord32
    /// Whether the namespace stays without owners.
    ///
    /// Changed under the door.
    let persistent: SharedWord32
    /// Set when the namespace was adopted after a reboot, until its claims have returned.
    let isAdopted: SharedWord32
    /// Set while the gate was taken over from a killed holder and what he left is not yet mended.
    let gateNeedsRecovery: SharedWord32
    /// Whether somebody who listens to the bell has nothing left to read: the next writer with news takes it back and rings.
    let isBellAwaited: SharedWord32
    /// The number that the next session gets.
    ///
    /// Survives a kill, as mapped memory does; after a reboot no session lives.
    let nextSession: SharedWord64
    /// Raised when a session claims for the first time, and when somebody claims for a process: who waits looks then whose
    /// end to listen for.
    let claimants: SharedWord32
    /// The number of the last change whose commit was announced.
    ///
    /// A hint: the database knows better.
    let sequence: SharedWord64
    /// How far the data file's blocks are reserved, in bytes.
    let reserved: SharedWord64
    let slots: WaitSlots

    init(descriptor: CInt, header: ControlHeader, identity: FileInfo) throws(Errno) {
        map = try MappedFile(descriptor: descriptor, length: Self.size)
        self.header = header
        self.identity = identity
        let base = map.base
        door = ProcessLock(.door, at: base + Self.doorOffset)
        gate = ProcessLock(.gate, at: base + Self.gateOffset)
        dead = SharedWord32(at: base + Self.flagsOffset)
        persistent = SharedWord32(at: base + Self.persistentOffset)
        gateNeedsRecovery = SharedWord32(at: base + Self.flagsOffset + 8)
        isAdopted = SharedWord32(at: base + Self.flagsOffset + 4)
        isBellAwaited = SharedWord32(at: base + Self.flagsOffset + 12)
        nextSession = SharedWord64(at: base + Self.flagsOffset + 16)
        claimants = SharedWord32(at: base + Self.flagsOffset + 24)
        sequence = SharedWord64(at: base + Self.sequenceOffset)
        reserved = SharedWord64(at: base + Self.sequenceOffset + 8)
        slots = WaitSlots(
            summary: base + Self.waitingOffset,
            kinds: base + Self.waitedKindsOffset,
            keys: base + Self.slotKeysOffset
        )
    }

    /// Makes the volatile part anew: fresh mutexes, nobody waiting.
    ///
    /// Only while nobody else can use the file.
    ///
    /// Whether the namespace is persistent is kept, without a moment in which it is not: a kill must not lose it.
    func initialiseVolatilePart() throws(Errno) {
        func clear(_ range: Range<Int>) {
            (map.base + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: range.count)
        }
        clear(Self.reinitialiserOffset + 4..<Self.persistentOffset)
        clear(Self.persistentOffset + 4..<Self.size)
        try door.initialise()
        try gate.initialise()
        nextSession.store(1)
    }

    /// Writes it to the disk (`.durable`, after a change that has to last).
    func sync() throws(Errno) {
        guard msync(map.base, Self.size, MS_SYNC) == 0 else { throw Errno(rawValue: errno) }
    }

    /// The PID of the process that re-initialises the file, so that those who wait for it can name it; 0 if unknown.
    static func reinitialiserPID(in descriptor: CInt) -> Int32 {
        var pid: Int32 = 0
        let count = withUnsafeMutableBytes(of: &pid) {
            pread(descriptor, $0.baseAddress, 4, off_t(reinitialiserOffset))
        }
        return count == 4 ? pid : 0
    }

    static func announceReinitialiser(pid: Int32, in descriptor: CInt) throws(Errno) {
        try FileBytes.write(withUnsafeBytes(of: pid) { Array($0) }, to: descriptor, at: reinitialiserOffset)
    }
}
