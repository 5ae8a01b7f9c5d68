import ClusterStore
import SpaceSystem
import TupleSpace

/// One life of a namespace on this machine: its replica follows the log, and its processes append to it.
///
/// Guarantees (tools/model/basing.pml, members.pml): the replica applies every entry once and in order, also if the watch
/// was lost, silent or compacted, and if the log was trimmed meanwhile. A replica that can't apply an entry takes no part:
/// the machine gives up the pen, and its member ends in this namespace, so that other machines return its claims.
///
/// 1. The replica's last entry is compared with the log's, by identity. A replica that is behind a trimmed log goes on from
///    the base; one that has other entries is set aside, and another is made of the base (``attach()``).
/// 2. Everything that is known of the namespace is read at one revision, and watched from the next (``watchAll()``).
/// 3. Entries are applied by number, one after the other; what the watch has not delivered is read (``applyAll(to:)``).
/// 4. When the replica has all entries, `joined/<member>` is put, and then the member enters by an entry.
///    (``takePlace(of:_:)``)
package actor LiveNamespace {
    package nonisolated let keys: NamespaceKeys
    package nonisolated let appender: Appender
    nonisolated let store: any Store
    nonisolated let root: any ReplicaRoot
    nonisolated let settings: ClusterSettings
    nonisolated let registrar: Registrar
    nonisolated let membership: Membership
    nonisolated let endedLives: EndedLives
    nonisolated let watch: SpaceWatch
    /// Whether the daemon is making a namespace of this root and name a shared one.
    private nonisolated let isFounding: @Sendable () -> Bool

    /// The number under which this machine takes part.
    package private(set) var identity: Appender.Identity
    /// Nudged when something here or in the store has changed.
    nonisolated let news = Nudge()
    /// Nudged when the store does not say what the watch has told.
    nonisolated let badLooks = Nudge()

    var replica: (any Replica)?
    var joined: [UInt32: StoreRow] = [:]
    var owners: [UInt32: StoreRow] = [:]
    var manifest: ManifestValue?
    package internal(set) var applied: UInt64 = 0
    /// The bytes of the entries that were applied since the last base.
    var bytesBehindBase = 0
    var baseTrouble: String?
    var upkeepFailures = UpkeepFailures()
    /// The revision of this machine's key as an owner, and when a process of it was last seen owning the namespace.
    var ownerRevision: Int64?
    var lastOwned = MonotonicInstant.now
    /// How far the watch has come.
    private(set) var watchedHead: UInt64 = 0
    private(set) var watchedRevision: Int64 = 0
    /// What the watch tells from before the last picture on.
    private var toldNews: AsyncThrowingStream<StoreNews, any Error>?
    /// The comparison of what the watch has told with the store.
    var looks = HeadLooks()
    /// What is wrong now.
    package internal(set) var trouble: String?
    /// Why the replica takes no part; `nil` if it does, or is about to.
    private(set) var stopped: String?
    /// What has happened to the replica.
    private(set) var events = ReplicaEvents()
    /// The numbers that are free after the store was set back: it has forgotten which it gave out, and some of them are
    /// fencing numbers that other programs have seen.
    var lostNumbers: FreeNumbers?
    /// Whether the member has entered by an entry since the replica was attached.
    var hasEntered = false
    /// The members that entered behind an entry of this machine, or need none.
    var toldTime: Set<UInt32> = []
    /// Since when the replica has had no room for the next entry; `nil`: it has, or that is not known.
    private var fullSince: MonotonicInstant?
    /// How often in a row a namespace of this root alone stood where the replica is to be made.
    private var timesInTheWay = 0
    /// Whether `joined/<number>` may have been put for the present number.
    var hasJoined = false

    init(
        keys: NamespaceKeys,
        store: any Store,
        root: any ReplicaRoot,
        settings: ClusterSettings,
        registrar: Registrar,
        membership: Membership,
        endedLives: EndedLives,
        watch: SpaceWatch,
        isFounding: @escaping @Sendable () -> Bool
    ) {
        self.keys = keys
        self.store = store
        self.root = root
        self.settings = settings
        self.registrar = registrar
        self.membership = membership
        self.endedLives = endedLives
        self.watch = watch
        self.isFounding = isFounding
        identity = Appender.Identity(number: membership.number, lease: membership.lease)
        appender = Appender(store: store, keys: keys, settings: settings)
    }

    /// Takes part until the namespace's life has ended or the task is cancelled.
    ///
    /// - Returns: Whether the life has ended; the replica is removed then.
    package func run() async -> Bool {
        let appender = appender
        return await withTaskCancellationHandler {
            await follow()
        } onCancel: {
            // Now, since a step that waits for an answer to this machine as a process of it ends only then.
            TaskHome.daemon.start { await appender.end(Self.leaving) }
        }
    }

    private static let leaving = Appender.Standing.absent("the daemon has left the cluster, and joins it again")

    private func follow() async -> Bool {
        let appender = appender
        let driving = TaskHome.daemon.start { await appender.drive() }
        defer { driving.cancel() }
        var pause = Pause(settings)
        var isGone = false
        while !Task.isCancelled, !isGone {
            let began = MonotonicInstant.now
            do {
                try await takePart()
            } catch Leaving.gone {
                isGone = true
            } catch Leaving.stopped(let why) {
                await stop(why)
            } catch Leaving.full(let why) {
                let since = fullSince ?? .now
                if since.advanced(by: settings.fullPatience).hasPassed {
                    await stop(why)
                } else {
                    fullSince = since
                    trouble = why
                    await news.wait(after: news.count, until: .now.advanced(by: settings.deathInterval))
                }
            } catch Leaving.again(let why) {
                trouble = why
                if began.advanced(by: settings.longestPause).hasPassed { pause.reset() }
                await pause.wait()
            } catch {
                await pause.wait()
            }
        }
        await leave(isGone ? .gone : Self.leaving)
        if isGone { await removeReplica() }
        return isGone
    }

    private func takePart() async throws {
        let replica = try await attach()
        trouble = nil
        stopped = nil
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.watchAll() }
            group.addTask { try await self.applyAll(to: replica) }
            group.addTask { try await self.waitForBadLook() }
            group.addTask { try await self.takePlace(of: replica) }
            group.addTask { try await self.makeBases(of: replica) }
            group.addTask { try await self.keepOwners(of: replica) }
            group.addTask { try await self.endDeadProcesses(of: replica) }
            defer { group.cancelAll() }
            // None of them ends but by an error.
            do { try await group.next() } catch {
                // Now, since one of the others may wait for an answer to this machine as a process of it.
                switch error {
                case Leaving.stopped(let why): await appender.stand(.stopped(identity, why))
                case Leaving.gone: await appender.end(.gone)
                default: break
                }
                throw error
            }
        }
    }

    // MARK: Leaving

    /// The machine takes no part until the replica is tried again.
    private func stop(_ why: String) async {
        trouble = why
        stopped = why
        fullSince = nil
        let old = identity
        await appender.stand(.stopped(old, why))
        replica?.publish(member: 0)
        // Its member ends in this namespace: the others return its claims. They may have done so when the replica is tried
        // again, so it is then another member.
        while !Task.isCancelled {
            do {
                var ended = [keys.key(.joined(old.number))]
                // The machine's own number stays, even if it is no longer a number of the namespace.
                if old.number != membership.number { ended.append(registrar.keys.member(old.number)) }
                _ = try await store.transact(then: ended.map { .delete(.key($0)) })
                if hasJoined {
                    if hasEntered {
                        events.note("member \(old.number) has ended, and others get what its processes held: \(why)")
                    }
                    let number = try await registrar.number(on: membership.lease)
                    identity = Appender.Identity(number: number, lease: membership.lease)
                    hasJoined = false
                }
                break
            } catch { await news.wait(after: news.count, until: .now.advanced(by: settings.shortestPause)) }
        }
        await closeReplica()
        let end = MonotonicInstant.now.advanced(by: settings.mendInterval)
        while !Task.isCancelled, !end.hasPassed { await news.wait(after: news.count, until: end) }
    }

    private func leave(_ standing: Appender.Standing) async {
        await appender.end(standing)
        replica?.publish(member: 0)
        await closeReplica()
        news.nudge()
    }

    private func closeReplica() async {
        hasEntered = false
        looks.pause()
        guard let closed = replica else { return }
        replica = nil
        try? await onThread { closed.close() }
    }

    private func removeReplica() async {
        let (root, name, life) = (root, keys.name.text, keys.life)
        do {
            let replica = try await onThread { try root.replica(named: name) }
            guard let replica, replica.life == life else {
                replica?.close()
                return
            }
            try await endedLives.end(replica)
        } catch {
            trouble = "the deleted namespace's replica can't be removed: \(error)"
        }
    }

    // MARK: Following

    /// Notes that the store was set back: the numbers that this replica has given out are not given again.
    private func giveUpNumbers(of replica: (any Replica)?) async throws {
        let had = try await onReplica { try replica?.freeNumbers() }
        lostNumbers = FreeNumbers.ofNow().beyond(had).beyond(lostNumbers)
    }

    /// Finds or makes the replica, and learns all that the store says of the namespace.
    private func attach() async throws -> any Replica {
        while true {
            try Task.checkCancellation()
            let found = try await findReplica()
            var position: ReplicaPosition?
            if let found { position = try await onReplica { try found.position() } }
            let before = watchedRevision
            // Begun before the picture is read, so that nothing is missed.
            toldNews = try await watch.news(of: keys)
            let picture = try await Picture(store, keys, at: position?.entry ?? 0)
            guard picture.isSameLife else { throw Leaving.gone }
            if picture.revision < before {
                // The replica that is ahead then is set aside below.
                events.note("the store was set back from revision \(before) to \(picture.revision)")
                await appender.forget()
                watchedRevision = 0
                try await giveUpNumbers(of: found)
            }
            if let damage = picture.damage { throw Leaving.stopped(damage) }
            guard let replica = found, let position else {
                // A daemon that was killed after it had set a replica aside no longer knows of it.
                if try await !onReplica({ [root] in try root.copiesAside() }).isEmpty {
                    try await giveUpNumbers(of: nil)
                }
                try await takeBase(of: picture) { [root] base in try base.makeReplica(in: root) }
                continue
            }
            switch picture.fit(position, replica) {
            case .fits: break
            case .isBehindTheLog:
                try await bringForward(replica, to: picture)
                continue
            case .isOfDamagedLog(let why): throw Leaving.stopped(why)
            case .isAnother(let why):
                // A store that was set back may have reached its old revision again, so the revision shows nothing: the
                // entries in memory belong to the log that no longer exists.
                await appender.forget()
                watchedRevision = 0
                try await giveUpNumbers(of: replica)
                let place = try await onReplica { try replica.setAside() }
                // The daemon reports it as long as the copy is there.
                events.note("\(why); it was set aside: \(place)", isTold: true)
                endedLives.noteAside(place, because: "\(keys.name.text): \(why)")
                continue
            }
            replica.reachLog { [appender] in OwnExchange(appender) }
            await appender.nameMachines { [weak replica] number in
                (try? replica?.members())?.first { $0.number == number }?.machine
            }
            self.replica = replica
            applied = position.entry
            joined = picture.joined
            owners = picture.owners
            manifest = picture.manifest
            watchedHead = picture.head ?? 0
            watchedRevision = picture.revision
            looks.begin()
            await appender.begin(
                head: picture.head ?? 0,
                pen: picture.pen,
                wants: picture.wants,
                revision: picture.revision
            )
            await appender.stand(.present(identity))
            return replica
        }
    }

    private func findReplica() async throws -> (any Replica)? {
        // Its outcome is certain, because the store has this life. Until then the namespace is the founder's.
        guard !isFounding() else { throw Leaving.again("a namespace of this name is being made a shared one here") }
        let (root, name, life) = (root, keys.name, keys.life)
        let found = try await onReplica { () throws -> (any Replica)? in
            let marks = FoundingMarks(root: root.path)
            var found = try root.replica(named: name.text)
            if let replica = found, replica.life != life, try marks.contains(name) {
                // It was never published, and the name belongs to another life now.
                try root.abandon(replica)
                found = nil
            }
            marks.remove(name)
            return found
        }
        guard let found, found.life != life else { return found }
        do {
            try await endedLives.end(found)
        } catch let error as SpaceError {
            throw Leaving.again("the replica of an earlier life: \(error.reason)")
        }
        return nil
    }

    /// Makes a replica that is behind the log what the base is.
    ///
    /// If the change is too large for one transaction, or for the namespace's limit beside what is there, the replica is
    /// removed, and another one will be made. A full disk has no room for another one either, so the replica waits.
    private func bringForward(_ replica: any Replica, to picture: Picture) async throws {
        try await takeBase(of: picture) { base in
            do {
                try base.bringForward(replica)
            } catch let error as SpaceError where error.code == .limitReached || error.code == .transactionTooLarge {
                try replica.remove()
            }
        }
    }

    /// Runs on a thread what makes a replica of the base.
    private func takeBase(
        of picture: Picture,
        _ body: @escaping @Sendable (BaseReader) throws -> Void
    ) async throws {
        guard let manifest = picture.manifest else { throw Leaving.again("the namespace has no base yet") }
        let reader = BaseReader(store: store, keys: keys, manifest: manifest)
        do {
            try await onThread { try body(reader) }
            timesInTheWay = 0
        } catch let error as BaseReader.Failure {
            switch error {
            case .store(let error): throw Leaving.again(error.told)
            case .replaced: throw Leaving.again("the base was replaced while it was read")
            case .value(let error): throw Leaving.stopped("the namespace's base \(error.told)")
            }
        } catch let error as SpaceError where error.isOfTakenName {
            timesInTheWay += 1
            throw Leaving.again(ClusterReport.Namespace.notShared)
        } catch let error as SpaceError where error.code == .incompatible {
            throw Leaving.again(error.reason)
        } catch let error as SpaceError {
            throw Leaving(error)
        }
    }

    /// Runs what a replica does on a thread.
    ///
    /// An error stops the replica, unless it may pass: ``Leaving/init(_:)``.
    nonisolated func onReplica<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        do {
            return try await onThread(body)
        } catch let error as SpaceError {
            throw Leaving(error)
        }
    }

    /// Learns what the watch delivers, until it ends.
    private func watchAll() async throws {
        let known = watchedRevision
        guard let news = toldNews.take() else { throw Leaving.again("the watch has ended") }
        do {
            for try await news in news {
                switch news {
                case .changes(let changes, let revision):
                    var ofAppender: [(LiveKey, StoreChange)] = []
                    var isOfOthers = false
                    for change in changes where change.revision > known {
                        isOfOthers = learn(change, &ofAppender) || isOfOthers
                    }
                    watchedRevision = max(watchedRevision, revision)
                    await appender.learn(ofAppender)
                    if isOfOthers { self.news.nudge() }
                case .progress(let revision): watchedRevision = max(watchedRevision, revision)
                }
            }
        } catch let error as StoreError {
            // Also if the history is compacted: everything is read again.
            throw Leaving.again(error.told)
        }
        throw Leaving.again("the watch has ended")
    }

    /// Learns a change, or leaves it to the appender.
    ///
    /// - Returns: Whether others than the appender must look again.
    private func learn(_ change: StoreChange, _ ofAppender: inout [(LiveKey, StoreChange)]) -> Bool {
        guard let key = keys.key(of: change.key) else { return false }
        let row = change.row
        switch key {
        case .joined(let member): joined[member] = row
        case .owner(let member): owners[member] = row
        case .manifest:
            manifest = row.flatMap { try? ManifestValue(decoding: $0.value, of: keys.life) } ?? manifest
        case .basing, .last: return false
        case .head:
            if let number = row?.number { watchedHead = number }
            ofAppender.append((key, change))
            return false
        case .log, .pen, .want:
            ofAppender.append((key, change))
            return false
        }
        return true
    }

    /// Applies the log's entries, one after the other.
    private func applyAll(to replica: any Replica) async throws {
        var position = applied
        while true {
            await appender.waitForEntry(behind: position)
            try Task.checkCancellation()
            let entries: [[UInt8]]
            do {
                entries = try await appender.entries(behind: position, mostBytes: 1 << 20)
            } catch {
                switch error {
                case .store(let error): throw Leaving.again(error.told)
                case .trimmed: throw Leaving.again(error.told)
                case .value: throw Leaving.stopped(error.told)
                }
            }
            let before = position
            position = try await onReplica {
                // Processes of this machine have applied some of them already.
                let known = max(try replica.position().entry, before) - before
                for entry in entries.dropFirst(Int(known)) { _ = try replica.apply(entry) }
                return try replica.position().entry
            }
            guard position > before || entries.isEmpty else {
                throw Leaving.stopped(Picture.breach(behind: before))
            }
            applied = position
            fullSince = nil
            bytesBehindBase += entries.reduce(0) { $0 + $1.count }
            if !hasEntered || isLogLong { news.nudge() }
        }
    }

    func takeUntoldEvents() -> [String] { events.takeUntold() }

    /// What the report says.
    package var allTroubles: [String] { [trouble, baseTrouble].compactMap(\.self) + upkeepFailures.troubles }

    /// What the daemon's log says: what will not pass by itself.
    package var lastingTroubles: [String] {
        // If two machines make a namespace at once, the one that lost is in the way for a moment.
        let isInTheWay = timesInTheWay >= UpkeepFailures.timesOfTrouble
        return [isInTheWay ? ClusterReport.Namespace.notShared : nil, stopped, baseTrouble].compactMap(\.self)
            + upkeepFailures.troubles
    }
}
