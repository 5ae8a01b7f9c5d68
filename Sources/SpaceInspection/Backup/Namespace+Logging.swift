/// What a log of a namespace's commits begins with.
package struct LogBeginning: Sendable {
    /// The file's whole path.
    package let path: String
    /// The number of the log's last entry.
    package let entry: UInt64
    /// The number of the namespace's last change.
    package let sequence: UInt64
}

extension Namespace {
    /// Makes each later commit add its changes to a file before the commit counts.
    ///
    /// The file first gets what it lacks of the namespace's present contents. Writers can go on during that. If they
    /// write all the time, they wait for the last part, for as long as it takes to read all rows.
    ///
    /// - Parameter path: The file: none yet, or a backup or an earlier log of this namespace.
    /// - Returns: Where the log begins.
    /// - Throws: `incompatible` if commits are logged already, or what ``backUp(to:)`` throws.
    package func beginLog(to path: String) throws(SpaceError) -> LogBeginning {
        try attempt("log the commits") { (core) throws(SpaceError) in
            if let known = try core.log.path() {
                if try core.isStandby { throw .standby(of: known) }
                guard try !core.log.isOfMembers else { throw .loggedByMembers }
                throw .incompatible(
                    "its log is \(known.quotedForPeople) already",
                    advice: "end that first, with --no-log"
                )
            }
            let backup = try BackupAddition(to: path, of: core)
            try backup.share()
            let whole = try LogFile.wholePath(of: path)
            for _ in 0..<Self.triesWithoutGate {
                let (added, commit) = try backup.addMoment(asLog: true)
                let hasBegun = try core.write(.removing) { (scope) throws(SpaceError) in
                    guard scope.isUnchanged(since: commit) else { return false }
                    try scope.log.begin(at: added.position, path: Array(whole.utf8), isStandby: false)
                    return true
                }
                if hasBegun { return LogBeginning(whole, added) }
            }
            let added = try core.write(.removing) { (scope) throws(SpaceError) in
                let added = try backup.add(scope.snapshot, asLog: true)
                try scope.log.begin(at: added.position, path: Array(whole.utf8), isStandby: false)
                return added
            }
            return LogBeginning(whole, added)
        }
    }

    private static let triesWithoutGate = 3

    /// Ends the log of the commits; its file stays.
    ///
    /// - Throws: `misuse` if commits are not logged; `incompatible` if the namespace is a standby, or several machines
    ///   share it.
    package func endLog() throws(SpaceError) {
        try attempt("end the log") { (core) throws(SpaceError) in
            guard let known = try core.log.path() else {
                throw .misuse("its commits are not logged", advice: "begin with --each-commit")
            }
            if try core.isStandby { throw .standby(of: known) }
            guard try !core.log.isOfMembers else { throw .loggedByMembers }
            try core.engine.log.end()
        }
    }
}

extension LogBeginning {
    fileprivate init(_ path: String, _ added: BackupAddition.Added) {
        self.init(path: path, entry: added.position.entry, sequence: added.moment.sequence)
    }
}

extension SpaceError {
    /// The error for a log of a namespace that several machines share.
    fileprivate static var loggedByMembers: SpaceError {
        .incompatible(
            "several machines share it, and its log is theirs",
            advice: "make a copy that is this machine's alone, and log that: "
                + "space dump NS --format json | space load COPY"
        )
    }
}
