import Glibc
import SpaceSystem
import SystemPackage

/// A namespace in which only a log's entries write: the same as the namespace whose log it is, a moment later.
///
/// Processes read in it, and wait for what they read; it becomes a namespace of its own when it is promoted.
package struct Standby {
    package let namespace: Namespace
    private let core: NamespaceCore
    private let path: String
    private let file: Followed

    private final class Followed {
        let file: LogFile
        let info: FileInfo

        init(_ path: String) throws(SpaceError) {
            file = try LogFile.reading(path)
            let raw = file.descriptor.raw
            info = try system(path.quotedForPeople) { () throws(Errno) in try FileInfo.of(raw) }
        }

        /// Whether it has an entry that ends at a position.
        ///
        /// - Complexity: O(entries).
        func goes(to position: LogPosition) throws(SpaceError) -> Bool {
            guard let subject = try file.subject() else { return false }
            var isFound = false
            _ = try file.walk(behind: subject.beginning) { (entry) in
                isFound = entry.position == position
                return !isFound
            }
            return isFound
        }
    }

    /// - Parameters:
    ///   - namespace: A standby.
    ///   - path: Where its log is now; that may be another place than before.
    /// - Throws: `incompatible` if the namespace is no standby, or the file is not its log; what opening the log throws.
    package init(_ namespace: Namespace, log path: String) throws(SpaceError) {
        self.namespace = namespace
        core = try namespace.attempt("follow a log") { $0 }
        let found = try SpaceError.naming("follow a log", on: core.name.text) { [core] () throws(SpaceError) in
            guard try core.isStandby, let known = try core.log.path() else {
                throw .incompatible("it is no standby", advice: "give another name, under which a standby can be made")
            }
            let whole = try LogFile.wholePath(of: path)
            let file = try Followed(whole)
            guard whole != known else { return (whole, file) }
            guard try file.goes(to: try Self.position(of: core)) else {
                throw .incompatible(
                    "\(path.quotedForPeople) is not the log that it follows, which was \(known.quotedForPeople)",
                    advice: "name that log or a whole copy of it, or give another name for a standby of this one"
                )
            }
            try core.engine.log.follow(at: Array(whole.utf8))
            return (whole, file)
        }
        (self.path, file) = found
    }

    /// How much of its log a standby has.
    private static func position(of core: NamespaceCore) throws(SpaceError) -> LogPosition {
        try core.read { (snapshot) throws(SpaceError) in
            let counters = try snapshot.counters()
            guard counters.followsLog, let row = try snapshot.mainLog.get(.log) else {
                throw .incompatible(
                    "it is no standby any more: it was promoted",
                    advice: "use it as a namespace of its own, or make a standby under another name"
                )
            }
            return row.position(entry: counters.logEntry)
        }
    }

    /// Applies what the log has, and then what comes, until `isOver`, which is asked after each signal and each second.
    ///
    /// - Parameters:
    ///   - isOver: Whether to end.
    ///   - caughtUp: Called once, with the number of the last entry, when nothing more is in the log.
    /// - Throws: `damaged`; `incompatible` if the log was ended or is gone, if a file that is no copy of it has taken its
    ///   place, or if the standby was promoted.
    package func follow(until isOver: () -> Bool, caughtUp: (UInt64) throws -> Void) throws {
        var file = file
        var changes = Self.changes(of: file)
        var hasCaughtUp = false
        var damagedSince: MonotonicInstant?
        while !isOver() {
            let count = changes.count
            var isAhead = false
            // The log has ended only if no entry follows its end, because a log may begin again in the same file.
            var end: LogFile.Entry?
            let walk = try SpaceError.naming("follow a log", on: core.name.text) { () throws(SpaceError) in
                try file.file.walk(behind: try Self.position(of: core)) { (entry) throws(SpaceError) in
                    // Another process may follow the log, too.
                    if let end { isAhead = try !core.engine.log.follow(end, of: file.file) }
                    end = entry.moment.isLogged ? nil : entry
                    if end == nil, !isAhead { isAhead = try !core.engine.log.follow(entry, of: file.file) }
                    return !isAhead && !isOver()
                }
            }
            if isAhead { continue }
            if let damage = walk.damage {
                // An entry whose writer was killed is replaced by another while this process reads it.
                let since = damagedSince ?? .now
                damagedSince = since
                if since.advanced(by: .seconds(2)).hasPassed { throw damage }
            } else {
                damagedSince = nil
                if !hasCaughtUp {
                    hasCaughtUp = true
                    try caughtUp(walk.position.entry)
                }
                if end != nil, !isOver() { throw ended }
            }
            if let copy = try replacement(of: file) {
                file = copy
                changes = Self.changes(of: file)
                continue
            }
            changes.wait(
                since: count,
                until: .now.advanced(by: damagedSince == nil ? .seconds(1) : .milliseconds(20)),
                interruption: .ofProcess
            )
        }
    }

    private var ended: SpaceError {
        SpaceError(
            .incompatible,
            "follow a log",
            namespace: core.name.text,
            reason: "the log \(path.quotedForPeople) was ended; the standby has all of it",
            advice: "go on when it was begun again in this file, or promote the standby: space replay NS --promote"
        )
    }

    /// The changes of a log's file; without the kernel's notes, a change is seen within a second.
    private static func changes(of file: Followed) -> PathWatch {
        PathWatch("/proc/self/fd/\(file.file.descriptor.raw)", [.modified, .attributes])
    }

    /// The file that has taken the log's place, if there is one: a copy that was put back, to which the writers now
    /// append.
    ///
    /// - Throws: `incompatible` if there is none, or one that does not go as far as the standby, or of another namespace.
    private func replacement(of file: Followed) throws(SpaceError) -> Followed? {
        let path = path
        let info = try? Directory.info(at: AT_FDCWD, path)
        if let info, info.device == file.info.device, info.inode == file.info.inode { return nil }
        guard info != nil, let other = try? Followed(path),
            let life = try file.file.subject()?.header.life, (try? other.file.subject())?.header.life == life,
            try other.file.size >= Int(clamping: try Self.position(of: core).end)
        else {
            throw SpaceError(
                .incompatible,
                "follow a log",
                namespace: core.name.text,
                reason: "the log \(path.quotedForPeople) is no longer the file that the standby has followed",
                advice:
                    "put it back, make another standby of the new log, or promote this one: space replay NS --promote"
            )
        }
        return other
    }

    /// Makes the standby a namespace of its own: its claims return, and what was held and watched elsewhere ends.
    ///
    /// - Throws: `incompatible` if the namespace is no standby.
    package static func promote(_ namespace: Namespace) throws(SpaceError) {
        try namespace.attempt("promote the standby") { (core) throws(SpaceError) in
            guard try core.isStandby else {
                throw .incompatible(
                    "it is no standby, so it is a namespace of its own already",
                    advice: "look at it with space show"
                )
            }
            try core.engine.log.end()
            try core.endedHolders.endSessionsOfElsewhere()
        }
    }
}
