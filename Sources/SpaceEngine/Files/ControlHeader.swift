package import SpaceSystem

/// The immutable start of a control file: what an opener must know before it takes a lock and before LMDB opens
/// anything.
///
/// The mode decides LMDB's flags. The boot id decides whether the mutexes behind the header mean anything. The header
/// has 256 bytes, little-endian; the last eight are a checksum (`hash64` of the bytes before them).
package struct ControlHeader: Equatable, Sendable {
    package static let size = 256
    /// Raised with every change of the on-disk format; a header with another version is refused.
    package static let currentVersion: UInt32 = 16
    static let magic: UInt64 = 0x4543_4150_5344_4853  // "SHDSPACE", read as little-endian

    package var version: UInt32 = currentVersion
    package var mode: StorageMode
    var slotCount: UInt32
    package var maxReaders: UInt32
    package var mapSize: UInt64
    package var byteLimit: UInt64
    package var bootID: [UInt8]
    package var pidNamespace: UInt64
    /// The time namespace: the start times in /proc, which show that a PID was reused, differ between time namespaces.
    package var timeNamespace: UInt64
    package var mutexABI: UInt32
    package var device: UInt64
    package var inode: UInt64
    /// The group that shares the namespace, or `UInt32.max` for none.
    package var group: UInt32
    package var createdMilliseconds: Int64
    /// The namespace's life, of which a copy is in the data file (`LifeRow`).
    package var life: NamespaceLife
    /// The first number of a claim in this life; smaller numbers belong to earlier lives.
    package var firstClaim: UInt64
    /// Real time less the namespace's time, in milliseconds, at the creation; an adopter computes with it.
    var clockBase: Int64
    /// The namespace's time less the time since boot, in milliseconds, set by the process that creates or adopts it.
    var clockOffset: Int64

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(Self.magic)
        append(version)
        append(mode.number)
        append(slotCount)
        append(maxReaders)
        append(mapSize)
        append(byteLimit)
        bytes.append(contentsOf: bootID.prefix(16))
        append(pidNamespace)
        append(mutexABI)
        append(group)
        append(device)
        append(inode)
        append(createdMilliseconds)
        append(timeNamespace)
        append(life.number)
        append(firstClaim)
        append(clockBase)
        append(clockOffset)
        bytes.append(contentsOf: repeatElement(0, count: Self.size - 8 - bytes.count))
        append(hash64(bytes))
        return bytes
    }

    /// Why this version of the library can't use bytes as a header.
    package enum Refusal: Error, Equatable {
        case notAControlFile
        case version(UInt32)
        case damaged(String)
    }

    /// Whether a file that starts with these bytes is a control file, whole or damaged, of any version.
    static func isMarked(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: withUnsafeBytes(of: magic.littleEndian) { Array($0) })
    }

    package init(decoding bytes: [UInt8]) throws(Refusal) {
        var position = 0
        func next<I: FixedWidthInteger>(_: I.Type) -> I {
            let value = bytes[position..<position + I.bitWidth / 8].withUnsafeBytes { $0.loadUnaligned(as: I.self) }
            position += I.bitWidth / 8
            return I(littleEndian: value)
        }
        guard bytes.count >= Self.size else { throw .damaged("the control file is truncated to \(bytes.count) bytes") }
        guard next(UInt64.self) == Self.magic else { throw .notAControlFile }
        version = next(UInt32.self)
        guard version == Self.currentVersion else { throw .version(version) }
        let checksum = bytes[(Self.size - 8)..<Self.size].withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        guard UInt64(littleEndian: checksum) == hash64(Array(bytes[..<(Self.size - 8)])) else {
            throw .damaged("the control file's header has a wrong checksum")
        }
        guard let mode = StorageMode(number: next(UInt32.self)) else {
            throw .damaged("the header names no known mode")
        }
        self.mode = mode
        slotCount = next(UInt32.self)
        maxReaders = next(UInt32.self)
        mapSize = next(UInt64.self)
        byteLimit = next(UInt64.self)
        bootID = Array(bytes[position..<position + 16])
        position += 16
        pidNamespace = next(UInt64.self)
        mutexABI = next(UInt32.self)
        group = next(UInt32.self)
        device = next(UInt64.self)
        inode = next(UInt64.self)
        createdMilliseconds = next(Int64.self)
        timeNamespace = next(UInt64.self)
        life = NamespaceLife(number: next(UInt64.self))
        firstClaim = next(UInt64.self)
        clockBase = next(Int64.self)
        clockOffset = next(Int64.self)
        guard slotCount == WaitSlots.mostSlots, (1...65536).contains(maxReaders), mapSize <= 1 << 46,
            byteLimit <= mapSize, life.number != 0
        else { throw .damaged("the header's sizes make no sense") }
    }

    /// Whether the time since boot is the same on a host as for the process that set the namespace's clock.
    package func countsTime(as host: HostIdentity) -> Bool {
        bootID == host.bootID && timeNamespace == host.timeNamespace
    }

    /// Sets the namespace's clock by the real time, which is read for that once per boot.
    package mutating func setClock() { clockOffset = NamespaceClock.realtimeAtBoot &- clockBase }

    package init(
        mode: StorageMode,
        mapSize: Int,
        byteLimit: Int,
        host: HostIdentity,
        file: FileInfo,
        group: UInt32?,
        createdMilliseconds: Int64,
        firstClaim: UInt64
    ) {
        self.mode = mode
        slotCount = UInt32(WaitSlots.mostSlots)
        maxReaders = UInt32(Limits.readers)
        self.mapSize = UInt64(mapSize)
        self.byteLimit = UInt64(byteLimit)
        bootID = host.bootID
        pidNamespace = host.pidNamespace
        timeNamespace = host.timeNamespace
        mutexABI = SharedMutex.abi
        device = file.device
        inode = file.inode
        self.group = group ?? .max
        self.createdMilliseconds = createdMilliseconds
        life = .new
        self.firstClaim = firstClaim
        // The namespace's time is real time in `.durable`, else the time since boot.
        let realtimeAtBoot = NamespaceClock.realtimeAtBoot
        (clockBase, clockOffset) = mode == .durable ? (0, realtimeAtBoot) : (realtimeAtBoot, 0)
    }
}
