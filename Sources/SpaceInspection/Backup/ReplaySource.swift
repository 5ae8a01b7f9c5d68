/// The entries of a file with which a new namespace is filled.
final class ReplaySource {
    private let file: LogFile
    private let start: LogPosition
    private let last: LogFile.Entry
    /// The counters that the entries have so far.
    private var counters: Counters?

    init(_ file: consuming LogFile, from start: LogPosition, to last: LogFile.Entry) {
        self.file = file
        self.start = start
        self.last = last
    }

    /// Writes the rows; the last transaction sets the counters.
    ///
    /// - Parameters:
    ///   - core: The new namespace.
    ///   - standby: The file's path, if the namespace goes on with the file's next entries.
    /// - Throws: `damaged`, and what a write throws.
    func fill(_ core: NamespaceCore, standby: [UInt8]?) throws(SpaceError) {
        _ = try file.walk(behind: start) { (entry) throws(SpaceError) in
            guard entry.number <= last.number else { return false }
            try file.forEachChunk(of: entry) { (changes) throws(SpaceError) in
                do throws(SpaceError) {
                    try write(changes, of: entry, to: core, atOnce: .max)
                } catch  where error.code == .limitReached {
                    // The bound for a transaction's pages grows with it, and the other namespace may have been full.
                    try write(changes, of: entry, to: core, atOnce: Self.fewBytes)
                }
            }
            return true
        }
        guard let counters else { throw file.damage("it lacks the row of counters") }
        try core.write(.removing) { (scope) throws(SpaceError) in
            try scope.log.goOn(with: counters, asNewLife: standby == nil)
            if let standby { try scope.log.begin(at: last.position, path: standby, isStandby: true) }
        }
    }

    private static let fewBytes = 64 << 10

    /// Writes some rows, in transactions of a given number of bytes, which may use the space that is kept for removals.
    private func write(
        _ changes: UnsafeRawBufferPointer,
        of entry: LogFile.Entry,
        to core: NamespaceCore,
        atOnce most: Int
    ) throws(SpaceError) {
        var rest = changes
        while !rest.isEmpty {
            let done = try core.write(.removing) { (scope) throws(SpaceError) in
                try RowChange.forEach(in: rest, atMost: most) { (change) throws(SpaceError) in
                    if change.isOfCounters { counters = change.value.flatMap { Counters($0) } }
                    try scope.log.apply(change, isInOrder: entry.number == 1)
                }
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[done...])
        }
    }
}
