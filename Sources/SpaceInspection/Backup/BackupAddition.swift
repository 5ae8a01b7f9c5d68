import Glibc
import SpaceSystem
import SystemPackage

/// A file to which moments of a namespace are added; no other process adds to it at the same time.
struct BackupAddition: ~Copyable {
    private let file: LogFile
    private let core: NamespaceCore
    private let subject: LogFile.Subject
    private let known: LogFile.Subject?

    /// An entry that was added, or the last one if nothing had changed.
    struct Added {
        let position: LogPosition
        let moment: LogMoment
        /// How many changes of rows the entry has; 0 if there is none.
        let changes: Int
    }

    init(to path: String, of core: NamespaceCore) throws(SpaceError) {
        try Self.check(path, of: core)
        let file = try LogFile.adding(to: path)
        let subject = LogFile.Subject(header: core.control.header, name: core.name.text)
        let known = try file.subject()
        if let known { try Self.check(known, is: subject, in: path) }
        self.file = file
        self.core = core
        self.subject = subject
        self.known = known
    }

    private static func check(
        _ known: LogFile.Subject,
        is subject: LogFile.Subject,
        in path: String
    ) throws(SpaceError) {
        guard known.header.life != subject.header.life else { return }
        let reason =
            known.name == subject.name
            ? "has an earlier life of the namespace, which was deleted since"
            : "is a backup of \(known.name.quotedForPeople)"
        throw .incompatible("\(path.quotedForPeople) \(reason)", advice: "name another file")
    }

    /// Refuses a file that would conflict with the namespace's own files.
    private static func check(_ path: String, of core: NamespaceCore) throws(SpaceError) {
        if let log = try core.log.path(), (try? LogFile.wholePath(of: path)) == log {
            throw .misuse(
                "\(path.quotedForPeople) is its log, to which each commit is added",
                advice: "name another file, or end the log first, with --no-log"
            )
        }
        let parent = path.lastIndex(of: "/").map { path[...$0] } ?? "./"
        guard let info = try? Directory.info(at: AT_FDCWD, String(parent)) else { return }
        if NamespaceFolder.ID(info) == core.folderID {
            throw .misuse(
                "\(path.quotedForPeople) would be in the namespace's own folder, and be deleted with it",
                advice: "name a file elsewhere"
            )
        }
    }

    /// Lets the group that shares the namespace write the file, too.
    func share() throws(SpaceError) {
        let group = core.control.header.group
        guard group != .max else { return }
        let raw = file.descriptor.raw
        try LogFile.onFile(file.path) { () throws(Errno) in
            try Directory.setGroup(raw, group)
            try Directory.setMode(raw, 0o660)
        }
    }

    /// Adds the namespace as it is.
    ///
    /// - Parameter asLog: Whether each later commit will be an entry of the file.
    /// - Returns: What was added, and the commit that it shows.
    /// - Throws: What ``add(_:asLog:isSound:)`` throws.
    func addMoment(asLog: Bool) throws(SpaceError) -> (added: Added, commit: Int) {
        let engine = core.engine
        let reader = try engine.lendReaderOfTables()
        defer { engine.takeBack(reader) }
        let snapshot = engine.snapshot(of: reader)
        let added = try add(snapshot, asLog: asLog) { () throws(SpaceError) in try reader.checkUndamaged() }
        return (added, snapshot.commit)
    }

    /// Adds the rows that a snapshot has and the file lacks.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot, with all of the namespace's tuples.
    ///   - asLog: Whether each commit after the snapshot will be an entry of the file.
    ///   - isSound: Throws if a page that was read is damaged.
    /// - Returns: What was added.
    /// - Throws: `damaged`, and `storageFull`; the file is then as it was before.
    func add(
        _ snapshot: Snapshot,
        asLog: Bool,
        isSound: () throws(SpaceError) -> Void = {}
    ) throws(SpaceError) -> Added {
        let start = (known ?? subject).beginning
        var fingerprints = RowFingerprints()
        let isEmpty = try file.size < LogFile.headerSize
        let walk =
            isEmpty
            ? LogFile.Walk(at: start)
            : try file.walk(behind: start) { (entry) throws(SpaceError) in
                try file.forEachChange(of: entry) { fingerprints.note($0) }
                return true
            }
        if let damage = walk.damage { throw damage }
        let counters = try snapshot.counters()
        let moment = LogMoment(
            sequence: counters.sequence,
            time: Clock.realtimeMilliseconds(),
            isPersistent: core.control.staying.isPersistent,
            clock: asLog ? core.clock.milliseconds : 0
        )
        // Persistence and logging are not rows. If only they differ from the last entry, the new entry has the row of
        // counters.
        let isOther =
            walk.last.map {
                $0.moment.isPersistent != moment.isPersistent || $0.moment.isLogged != moment.isLogged
            } ?? false
        var writer = BackupWriter(file, beginning: isEmpty ? subject : nil, behind: walk.position, moment)
        do throws(SpaceError) {
            try snapshot.forEachRow { (row) throws(SpaceError) in
                let differs = fingerprints.strike(row)
                if differs || isOther && row.isOfCounters { try writer.add(row) }
            }
            if !fingerprints.isEmpty {
                _ = try file.walk(behind: start) { (entry) throws(SpaceError) in
                    // The entry that is being written has no end yet, so it does not count.
                    try file.forEachChange(of: entry) { (row) throws(SpaceError) in
                        guard fingerprints.strikeGone(row) else { return }
                        try writer.add(RowChange(table: row.table, key: row.key, value: nil))
                    }
                    return true
                }
            }
            try isSound()
            return Added(position: try writer.finish(), moment: moment, changes: writer.count)
        } catch {
            writer.cancel()
            throw error
        }
    }
}
