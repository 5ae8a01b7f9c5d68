/// How far a log goes, or how much of it is known.
package struct LogPosition: Equatable, Sendable {
    /// The number of the last entry; they are 1, 2, 3 and so on.
    package var entry: UInt64
    /// Where the next entry begins.
    package var end: UInt64
    /// The hash that the next entry refers to, so that entries of two logs are never taken for one.
    package var link: UInt64

    package init(entry: UInt64, end: UInt64, link: UInt64) {
        (self.entry, self.end, self.link) = (entry, end, link)
    }
}

/// What an entry says of the namespace beside the rows.
package struct LogMoment: Equatable, Sendable {
    /// The number of the last change that the entry knows of.
    package var sequence: UInt64
    /// When it was made, in milliseconds since 1970.
    package var time: Int64
    /// Whether the namespace stays without owners.
    package var isPersistent: Bool
    /// When it was made, in milliseconds of the namespace's clock; 0 if the commits after it are not logged: in a
    /// backup of one moment, and at a log's end.
    package var clock: Int64

    /// Whether each commit after this moment is an entry of the file.
    package var isLogged: Bool { clock != 0 }

    package init(sequence: UInt64, time: Int64, isPersistent: Bool, clock: Int64 = 0) {
        (self.sequence, self.time, self.isPersistent, self.clock) = (sequence, time, isPersistent, clock)
    }
}

/// An entry that is ready to be appended, and the position after it.
package struct LogEntry: Sendable {
    package let bytes: [UInt8]
    package let position: LogPosition

    private static let chunkSize = 1 << 20

    /// Makes an entry of some changes of rows, to be appended after a position.
    package init(_ changes: [UInt8], _ moment: LogMoment, behind position: LogPosition) {
        var chunk = LogChunk(behind: position, moment)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(changes.count + LogChunk.headerSize * (1 + changes.count / Self.chunkSize))
        var rest = changes[...]
        repeat {
            // A chunk ends with a change.
            let part = Array(rest.prefix(RowChange.end(ofChangesIn: rest, atLeast: Self.chunkSize)))
            rest = rest.dropFirst(part.count)
            chunk.isLast = rest.isEmpty
            chunk.count = part.count
            chunk.hash = hash64(part)
            let header = chunk.encoded
            bytes += header
            bytes += part
            chunk.link = LogChunk.ownHash(encoded: header)
        } while !rest.isEmpty
        self.bytes = bytes
        let end = position.end + UInt64(bytes.count)
        self.position = LogPosition(entry: chunk.entry, end: end, link: chunk.link)
    }
}

/// The commits of a namespace in their one order, kept outside of it, so that they can be repeated elsewhere.
///
/// A writer acquires the log, applies the entries that its namespace lacks, runs its transaction, appends what changed,
/// and commits only then. An entry that is in the log counts: if its writer is killed before its commit, the next
/// writer applies it.
///
/// All functions are called under the namespace's gate.
package protocol CommitLog: AnyObject {
    /// What the log is called in messages.
    var title: String { get }

    /// Whether several machines append to the log: then only a session whose member takes part may do so.
    var hasMembers: Bool { get }

    /// Keeps all others from appending, until ``release()``; or makes sure that this transaction's ``append`` is
    /// refused if another entry comes before it.
    ///
    /// - Parameter position: How much of the log the namespace has.
    /// - Throws: `holderBusy`, `clusterUnavailable`, and errors of the disk.
    func acquire(behind position: LogPosition) throws(SpaceError)

    func release()

    /// Calls `visit` with the changes of rows in the entries after a position, in order: with as many as one
    /// transaction should apply.
    ///
    /// A transaction can't use the pages that it frees, so with a long part of the log the file would grow by all that
    /// this part has replaced. If a writer was killed while it wrote an entry, the entry doesn't count, and is removed.
    ///
    /// - Parameters:
    ///   - position: The position.
    ///   - visit: What to do with the changes of an entry or of a part of it; with its last part, the position after it
    ///     and its moment are given too.
    /// - Returns: `false` if there are more.
    /// - Throws: `damaged` if the log does not go on from that position, and what `visit` throws.
    func forEachEntry(
        behind position: LogPosition,
        _ visit: (UnsafeRawBufferPointer, _ last: (LogPosition, LogMoment)?) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Bool

    /// Appends an entry after a position, where the log ends; the entry counts when this returns.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - position: Where the log ends.
    ///   - terms: What the entry's transaction asks for.
    /// - Returns: `false` if another entry came before: this entry is not in the log, and never will be.
    /// - Throws: `storageFull` and other errors of the disk, or `clusterUnavailable`; the log is then as it was before.
    ///   `outcomeUnknown` if the entry may be in the log.
    func append(_ entry: LogEntry, behind position: LogPosition, _ terms: AppendTerms) throws(SpaceError) -> Bool
}

/// The way to the log that several machines share; a floor above knows how it works.
package protocol LogSource: AnyObject, Sendable {
    /// Whether this process has waited for the way to the log without success, and has not heard of it since.
    var isSilent: Bool { get }

    /// The log of the namespace; for the holder of the gate.
    func log() -> any CommitLog
}

/// What a transaction asks for when its entry is appended.
package struct AppendTerms: Sendable {
    /// Whether the entry is on the disk before the call returns.
    package var isDurable: Bool
    /// The entry is refused while this member has its key; 0: no member.
    package var absentMember: UInt32 = 0
}
