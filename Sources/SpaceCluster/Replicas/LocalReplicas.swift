import SpaceSystem
import SystemPackage
package import TupleSpace

/// The replicas of a root, in the root's own files.
package struct LocalReplicas: ReplicaRoot {
    /// The root's folder for replicas that were set aside.
    static let asideFolder = ".aside"

    private let space: Space

    package init(_ space: Space) { self.space = space }

    package var path: String { space.root }

    package func replicaNames() throws(SpaceError) -> [String] {
        var names: [String] = []
        for name in try space.namespaceNames() where try isReplica(name) { names.append(name) }
        return names
    }

    package func copiesAside() throws(SpaceError) -> [String] {
        let place = "\(path)/\(Self.asideFolder)"
        do throws(Errno) {
            let folder = try OwnedDescriptor.directory(FilePath(place))
            return try Directory.list(folder.raw).sorted().map { "\(place)/\($0)" }
        } catch {
            guard error != .noSuchFileOrDirectory else { return [] }
            throw SpaceError(error, subject: place.quotedForPeople)
        }
    }

    package func replica(named name: String) throws(SpaceError) -> (any Replica)? {
        guard try isReplica(name) else { return nil }
        do throws(SpaceError) {
            return try openReplica(name)
        } catch  where error.code == .namespaceNotFound {
            // It was deleted meanwhile.
            return nil
        }
    }

    /// Opens a namespace that is a replica, or that a process is waiting for to become one.
    private func openReplica(_ name: String) throws(SpaceError) -> LocalReplica {
        let namespace = try space.openAsIs(name, owner: .nobody, creates: false, options: NamespaceOptions())
        return LocalReplica(namespace, timeout: space.timeout)
    }

    /// Whether a namespace is a replica, without opening it.
    private func isReplica(_ name: String) throws(SpaceError) -> Bool {
        guard let rootFolder = try space.spaceRoot.open(create: false),
            let folder = try NamespaceFolder.open(try NamespaceName(name), in: rootFolder, of: space.spaceRoot),
            let control = try? folder.openControl()
        else { return false }
        return (try? ControlFile.flags(in: control.raw).isReplica) ?? false
    }

    package func makeReplica(of base: ReplicaBase, nextPart: () throws -> [UInt8]?) throws -> any Replica {
        let (header, clock) = try base.decodedHeader()
        // A namespace that its last owner, a killed process, has left is not in the way.
        _ = space.reap(try NamespaceName(base.name))
        let options = NamespaceOptions(
            mode: header.mode,
            // No process owns it here yet; it is a replica before others see it, and the word is set right below.
            isPersistent: true,
            byteLimit: Int(clamping: header.byteLimit)
        )
        var failure: (any Error)?
        var isBegun = false
        let namespace = try withoutActuallyEscaping(nextPart) { nextPart in
            let contents = InitialContents(from: header, isNewLife: false, isReplica: true) {
                (core) throws(SpaceError) in
                // The parts can be read once. The creation begins again if a namespace of this name came and went.
                guard !isBegun else {
                    throw .incompatible(
                        "a namespace of this name came and went while the replica was made",
                        advice: "wait: the daemon tries again"
                    )
                }
                isBegun = true
                try Self.fill(core, base, clock: clock) { () throws(SpaceError) in
                    do {
                        return try nextPart()
                    } catch {
                        failure = error
                        throw SpaceError(.cancelled, reason: "a part of the base could not be read")
                    }
                }
            }
            do {
                return try space.open(base.name, owner: .nobody, creates: true, options: options, contents: contents)
            } catch {
                throw failure ?? error
            }
        }
        return LocalReplica(namespace, timeout: space.timeout)
    }

    /// Writes the base's rows into the new namespace.
    private static func fill(
        _ core: NamespaceCore,
        _ base: ReplicaBase,
        clock: Int64,
        nextPart: () throws(SpaceError) -> [UInt8]?
    ) throws(SpaceError) {
        var counters: Counters?
        while let part = try nextPart() {
            try core.write(.applying) { (scope) throws(SpaceError) in
                try part.withBytes { (bytes) throws(SpaceError) in
                    _ = try RowChange.forEach(in: bytes) { (change) throws(SpaceError) in
                        if change.isOfCounters { counters = change.value.flatMap { Counters($0) } }
                        try scope.log.apply(change, isInOrder: true)
                    }
                }
            }
        }
        guard let counters else { throw .damaged("the base lacks the row of counters") }
        try core.write(.applying) { (scope) throws(SpaceError) in
            try scope.log.goOn(with: counters, asNewLife: false)
            let position = LogPosition(entry: base.position.entry, end: 0, link: base.position.link)
            try scope.log.begin(at: position, path: LogRow.ofMembers, isStandby: false)
        }
        // The clock goes on from that of the base, whatever this machine's clock says.
        let late = clock &- core.clock.milliseconds
        core.control.clockAhead.add(UInt64(bitPattern: late))
        core.control.staying.set(isReplica: true)
        core.control.staying.set(isPersistent: base.isPersistent)
    }

    package func found(_ name: String) throws(SpaceError) -> (any Replica, ReplicaBase) {
        let replica = try openReplica(name)
        let position: ReplicaPosition
        do throws(SpaceError) {
            position = try replica.found()
        } catch {
            replica.close()
            throw error
        }
        return (replica, base(of: replica, at: position))
    }

    /// What a base of a replica says beside its rows.
    private func base(of replica: any Replica, at position: ReplicaPosition) -> ReplicaBase {
        ReplicaBase(
            name: replica.name,
            header: replica.header,
            position: position,
            isPersistent: replica.isPersistent
        )
    }

    package func abandon(_ replica: any Replica) throws(SpaceError) {
        try (replica as? LocalReplica)?.abandon()
        replica.close()
    }
}

extension ReplicaBase {
    /// The header and the clock of the namespace that the base was made of.
    func decodedHeader() throws(SpaceError) -> (ControlHeader, clock: Int64) {
        guard header.count == ControlHeader.size + 8 else {
            throw .damaged("the base's header has \(header.count) bytes")
        }
        do throws(ControlHeader.Refusal) {
            let decoded = try ControlHeader(decoding: Array(header[..<ControlHeader.size]))
            return (decoded, header.withUnsafeBytes { $0.little(ControlHeader.size) })
        } catch {
            if case .version(let version) = error {
                throw .incompatible(
                    "the base has the format version \(version), and this version has \(ControlHeader.currentVersion)",
                    advice: "use the same version on all machines"
                )
            }
            throw .damaged("the base's header does not decode")
        }
    }
}
