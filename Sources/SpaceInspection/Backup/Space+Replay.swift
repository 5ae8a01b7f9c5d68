/// A moment of a namespace that a backup has.
package struct BackupMoment: Sendable {
    /// The number of the last change that it has.
    package let sequence: UInt64
    /// When the backup was made, in milliseconds since 1970.
    package let time: Int64
    /// How large its entry is, in bytes.
    package let bytes: Int

    init(_ entry: LogFile.Entry) {
        (sequence, time) = (entry.moment.sequence, entry.moment.time)
        bytes = entry.bytes.count
    }
}

/// The contents of a backup's file.
package struct BackupContents: Sendable {
    /// The name of the namespace that it is a backup of.
    package let name: String
    /// The complete moments, in order, up to the first that is damaged.
    package fileprivate(set) var moments: [BackupMoment] = []
    /// The damage behind these moments, or `nil` if there is none.
    package fileprivate(set) var damage: SpaceError?
    /// The number of bytes of an incomplete moment at the end: a backup was killed while it wrote, or the file was cut.
    package fileprivate(set) var bytesBehind = 0

    fileprivate init(name: String) { self.name = name }
}

extension Space {
    private static let replaying = "replay the backup"

    /// Reads a backup's file, and checks all of it.
    ///
    /// - Throws: `badData` if the file is no backup; `incompatible` if it is one of another format; `damaged` if its
    ///   beginning is.
    /// - Complexity: O(bytes).
    package static func contents(ofBackup path: String) throws(SpaceError) -> BackupContents {
        try SpaceError.naming(reading, on: nil) { () throws(SpaceError) in
            let file = try LogFile.reading(path)
            guard let subject = try file.subject() else { throw empty(path) }
            var contents = BackupContents(name: subject.name)
            var damage: SpaceError?
            let walk = try file.walk(behind: subject.beginning) { (entry) throws(SpaceError) in
                do throws(SpaceError) {
                    try file.forEachChange(of: entry) { _ in }
                } catch  where error.code == .damaged {
                    damage = error
                    return false
                }
                contents.moments.append(BackupMoment(entry))
                return true
            }
            contents.damage = (damage ?? walk.damage)?.named(reading, nil)
            if contents.damage == nil {
                contents.bytesBehind = max(0, try file.size - Int(clamping: walk.position.end))
            }
            return contents
        }
    }

    /// The name of the namespace that a file is a backup of.
    package static func name(ofBackup path: String) throws(SpaceError) -> String {
        try SpaceError.naming(reading, on: nil) { () throws(SpaceError) in
            guard let subject = try LogFile.reading(path).subject() else { throw empty(path) }
            return subject.name
        }
    }

    private static let reading = "read the backup"

    private static func empty(_ path: String) -> SpaceError {
        SpaceError(
            .badData,
            reason: "\(path.quotedForPeople) has no complete backup",
            advice: "name another file"
        )
    }

    /// Makes a namespace with the contents that a backup has, as they were at its last moment or at an earlier one.
    ///
    /// The namespace is a new life: claims return; holds, contents that end with a process, and watchers are gone;
    /// subscriptions stay. Ids, the numbers of changes and the history go on from where the backup was. Other processes
    /// see the namespace only when it is complete; a process killed in the call leaves none.
    ///
    /// - Parameters:
    ///   - path: The backup's file.
    ///   - name: The name of the new namespace.
    ///   - sequence: The last moment whose changes have numbers up to this; `nil` for the file's last.
    ///   - owner: Who owns the new namespace.
    ///   - persistent: Whether it stays without owners, even if the other did not.
    ///   - group: The group that uses the namespace too.
    ///   - isLocal: Whether it is made without asking the root's daemon (``NamespaceOptions``).
    ///   - isStandby: Whether the namespace goes on as a standby: then nothing ends, and only the file's next entries
    ///     write to it.
    /// - Returns: The namespace, and the moment that it shows.
    /// - Throws: `incompatible` if the namespace exists; `badData` if the file is no backup; `misuse` if it has no such
    ///   moment, or if a standby is wanted and the file is no log; `damaged`; `storageFull`; what
    ///   ``namespace(_:owning:options:)`` throws.
    package func replay(
        _ path: String,
        as name: String,
        upTo sequence: UInt64? = nil,
        owner: OwnerRequest,
        persistent: Bool = false,
        group: UInt32? = nil,
        isLocal: Bool = false,
        asStandby isStandby: Bool = false
    ) throws(SpaceError) -> (Namespace, BackupMoment) {
        try SpaceError.naming(Self.replaying, on: name) { () throws(SpaceError) in
            let file = try LogFile.reading(path)
            guard let subject = try file.subject() else { throw Self.empty(path) }
            var first: UInt64?
            let walk = try file.walk(behind: subject.beginning) { (entry) in
                first = first ?? entry.moment.sequence
                return entry.moment.sequence <= sequence ?? .max
            }
            // What is damaged may be what was asked for.
            if let damage = walk.damage, sequence.map({ $0 != walk.last?.moment.sequence }) ?? true { throw damage }
            guard let last = walk.last else {
                guard let first else { throw Self.empty(path) }
                throw .misuse(
                    "the backup \(path.quotedForPeople) begins at change \(first)",
                    advice: "name that or a later one"
                )
            }
            if isStandby, !last.moment.isLogged {
                throw .misuse(
                    "no commits are logged in \(path.quotedForPeople): it is a backup, or a log that was ended",
                    advice: "begin a log with space backup NS --to FILE --each-commit, or replay without following"
                )
            }
            _ = reap(try NamespaceName(name))
            let header = subject.header
            let options = NamespaceOptions(
                mode: header.mode,
                isPersistent: persistent || last.moment.isPersistent,
                byteLimit: Int(clamping: header.byteLimit),
                group: group,
                isLocal: isLocal
            )
            let source = ReplaySource(file, from: subject.beginning, to: last)
            let standby = isStandby ? Array(try LogFile.wholePath(of: path).utf8) : nil
            let filling = InitialContents(from: header, isNewLife: !isStandby) { (core) throws(SpaceError) in
                try source.fill(core, standby: standby)
            }
            let namespace = try open(name, owner: owner, creates: true, options: options, contents: filling)
            return (namespace, BackupMoment(last))
        }
    }
}
