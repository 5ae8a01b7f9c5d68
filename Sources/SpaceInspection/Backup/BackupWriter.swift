import SpaceSystem
import SystemPackage

/// Adds one entry to a backup's file, chunk by chunk.
struct BackupWriter {
    private let descriptor: CInt
    private let path: String
    /// The bytes that the file begins with, if this is its first entry.
    private let fileHeader: [UInt8]
    private let start: Int
    private let last: LogPosition
    private var position: Int
    private var chunk: LogChunk
    private var changes: [UInt8] = []
    /// How many changes there are.
    private(set) var count = 0

    private static let chunkSize = 1 << 20

    /// - Parameters:
    ///   - file: The file, locked.
    ///   - subject: What is backed up, if the file has no beginning yet.
    ///   - last: Where the file's last entry ends; bytes after it are overwritten.
    ///   - moment: What the entry says beside the rows.
    init(
        _ file: borrowing LogFile,
        beginning subject: LogFile.Subject?,
        behind last: LogPosition,
        _ moment: LogMoment
    ) {
        descriptor = file.descriptor.raw
        path = file.path
        fileHeader = subject.map { LogFile.header(of: $0) } ?? []
        self.last = last
        position = Int(clamping: last.end)
        start = fileHeader.isEmpty ? position : 0
        chunk = LogChunk(behind: last, moment)
    }

    mutating func add(_ change: RowChange) throws(SpaceError) {
        if count == 0 { try begin() }
        count += 1
        change.append(to: &changes)
        if changes.count >= Self.chunkSize { try flush(isLast: false) }
    }

    /// Completes the entry, and syncs the file; an entry without changes is left out.
    ///
    /// - Returns: How far the file goes then.
    mutating func finish() throws(SpaceError) -> LogPosition {
        guard count > 0 else { return last }
        // Everything before the last chunk is on the disk before the chunk, so that an incomplete entry never seems
        // complete.
        try sync()
        try flush(isLast: true)
        try sync()
        return LogPosition(entry: chunk.entry, end: UInt64(position), link: chunk.link)
    }

    /// Removes what was written of the entry.
    func cancel() { try? FileBytes.truncate(descriptor, to: start) }

    private mutating func begin() throws(SpaceError) {
        let (descriptor, start, header) = (descriptor, start, fileHeader)
        try attempt { () throws(Errno) in
            try FileBytes.truncate(descriptor, to: start)
            try FileBytes.write(header, to: descriptor)
        }
    }

    private mutating func flush(isLast: Bool) throws(SpaceError) {
        chunk.isLast = isLast
        chunk.count = changes.count
        chunk.hash = hash64(changes)
        let (descriptor, position) = (descriptor, position)
        let (header, rest) = (chunk.encoded, changes)
        try attempt { () throws(Errno) in
            try FileBytes.write(header, to: descriptor, at: position)
            try FileBytes.write(rest, to: descriptor, at: position + header.count)
        }
        self.position += header.count + changes.count
        chunk.link = chunk.ownHash
        changes.removeAll(keepingCapacity: true)
    }

    private func sync() throws(SpaceError) { try attempt { () throws(Errno) in try Directory.sync(descriptor) } }

    private func attempt(_ body: () throws(Errno) -> Void) throws(SpaceError) {
        try LogFile.onFile(path, body)
    }
}
