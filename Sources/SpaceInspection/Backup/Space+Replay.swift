import SpaceEngine
import SpaceSystem
import TupleCoding

/// A moment of a namespace that a backup has.
package struct BackupMoment: Sendable {
    /// The number of the last change that it has.
    package let sequence: UInt64
    /// When the backup was made, in milliseconds since 1970.
    package let time: Int64
    /// How large its entry is, in bytes.
    package let bytes: Int
}

extension Space {
    private static let replaying = "replay the backup"

    /// The name of the namespace that a file is a backup of, and the moments that it has, in order.
    ///
    /// - Throws: `misuse` if the file is no backup; `incompatible` if it is one of another format; `damaged`, also if
    ///   only a part of it is.
    package static func moments(ofBackup path: String) throws(SpaceError) -> (name: String, moments: [BackupMoment]) {
        try SpaceError.attempt("read the backup", on: nil) { () throws(SpaceError) in
            let file = try BackupFile.reading(path)
            guard let subject = try file.subject() else { throw empty(path) }
            let contents = try file.contents(subject)
            if let damage = contents.damage { throw damage }
            let moments = contents.entries.map {
                BackupMoment(sequence: $0.sequence, time: $0.time, bytes: $0.bytes.count)
            }
            return (subject.name, moments)
        }
    }

    private static func empty(_ path: String) -> SpaceError {
        .misuse("\(path.quotedForPeople) has no complete backup", advice: "name another file")
    }

    /// Makes a namespace with the contents that a backup has, as they were at its last moment or at an earlier one.
    ///
    /// The namespace is a new life: claims return, and what processes held, what ended with a process, and who watched
    /// is gone; subscriptions stay. Ids, the numbers of changes and the history go on from where the backup was. Other
    /// processes see the namespace when it is complete; a call that is killed leaves none.
    ///
    /// - Parameters:
    ///   - path: The backup's file.
    ///   - name: The name of the new namespace.
    ///   - sequence: The last moment whose changes have numbers up to this; `nil` for the file's last.
    ///   - owner: Who owns the new namespace.
    ///   - persistent: Whether it stays without owners, even if the other did not.
    /// - Returns: The namespace, and the moment that it shows.
    /// - Throws: `incompatible` if there is such a namespace; `misuse` if the file is no backup, or has no such moment;
    ///   `damaged`; `storageFull`; what ``namespace(_:owning:options:)`` throws.
    package func replay(
        _ path: String,
        as name: String,
        upTo sequence: UInt64? = nil,
        owner: OwnerRequest,
        persistent: Bool = false
    ) throws(SpaceError) -> (Namespace, BackupMoment) {
        try SpaceError.attempt(Self.replaying, on: name) { () throws(SpaceError) in
            let file = try BackupFile.reading(path)
            guard let subject = try file.subject() else { throw Self.empty(path) }
            let contents = try file.contents(subject)
            let entries = contents.entries.prefix { $0.sequence <= sequence ?? .max }
            // What is damaged may be what was asked for.
            if let damage = contents.damage, entries.count == contents.entries.count,
                sequence.map({ $0 != entries.last?.sequence }) ?? true
            {
                throw damage
            }
            guard let last = entries.last else {
                guard let first = contents.entries.first else { throw Self.empty(path) }
                throw .misuse(
                    "the backup \(path.quotedForPeople) begins at change \(first.sequence)",
                    advice: "name that or a later one"
                )
            }
            _ = reap(try NamespaceName(name))
            let header = subject.header
            let options = NamespaceOptions(
                mode: header.mode,
                isPersistent: persistent || last.isPersistent,
                byteLimit: Int(clamping: header.byteLimit)
            )
            let source = Source(file: file, entries: Array(entries))
            let filling = InitialContents(from: header) { (core) throws(SpaceError) in try source.fill(core) }
            let namespace = try open(name, owner: owner, creates: true, options: options, contents: filling)
            return (namespace, BackupMoment(sequence: last.sequence, time: last.time, bytes: last.bytes.count))
        }
    }

    /// The entries that a new namespace is filled with.
    private final class Source {
        private let file: BackupFile
        private let entries: [BackupFile.Entry]
        /// The counters that the entries have so far.
        private var counters: Counters?

        init(file: consuming BackupFile, entries: [BackupFile.Entry]) {
            self.file = file
            self.entries = entries
        }

        /// Writes the rows; the last transaction sets the counters.
        func fill(_ core: NamespaceCore) throws(SpaceError) {
            for entry in entries {
                try file.forEachChunk(of: entry) { (changes) throws(SpaceError) in
                    do throws(SpaceError) {
                        try write(changes, of: entry, to: core, atOnce: .max)
                    } catch  where error.code == .limitReached {
                        // The bound for a transaction's pages grows with it, and the other namespace may have been full.
                        try write(changes, of: entry, to: core, atOnce: Self.fewBytes)
                    }
                }
            }
            guard let counters else { throw file.damage("it lacks the row of counters") }
            try core.write(.removing) { (scope) throws(SpaceError) in try scope.goOn(with: counters) }
        }

        private static let fewBytes = 64 << 10

        /// Writes some rows, in transactions of so many bytes; they may use the space that is kept for removals.
        private func write(
            _ changes: UnsafeRawBufferPointer,
            of entry: BackupFile.Entry,
            to core: NamespaceCore,
            atOnce most: Int
        ) throws(SpaceError) {
            var rest = changes
            while !rest.isEmpty {
                let done = try core.write(.removing) { (scope) throws(SpaceError) in
                    try RowChange.forEach(in: rest, atMost: most) { (change) throws(SpaceError) in
                        if change.isOfCounters { counters = change.value.flatMap { Counters($0) } }
                        try scope.apply(change, isInOrder: entry.number == 1)
                    }
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[done...])
            }
        }
    }
}
