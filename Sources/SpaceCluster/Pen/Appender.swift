package import ClusterStore
import SpaceSystem
import Synchronization

/// The pen and the appends of one namespace, for the processes of one machine.
///
/// Guarantees, against lost answers, late and repeated requests, lost leases and restarts (tools/model/appending.pml):
/// an entry stands in the log once, on the state that it was made for, and its process gets the answer `done` only if
/// the entry is there, and `refused` only if it is not there and never will be.
///
/// 1. A process asks for the pen. It gets the revision that gave the pen to this machine, and the log's head.
/// 2. It executes its transaction on the state of that head, and appends behind it with that revision. One transaction of
///    the store compares both and puts the entry, the head and the member's last commit. The daemon replaces neither the
///    head nor the revision by newer ones: then the entry would stand on another state than its own.
/// 3. If the store refuses or does not answer, the daemon finds out what has happened (``Commit``). Until it knows, the
///    machine's next process gets no pen for this namespace.
/// 4. The pen goes to another machine by a transaction that compares the pen's revision, so it never waits for the
///    gate, for a replica, or for a process (``drive()``).
///
/// Safety depends on the compares alone. What is known here of pen and head may be old: it decides only what is tried.
package actor Appender {
    /// As which member this machine writes, or why it does not.
    package enum Standing: Sendable {
        case absent(String)
        /// The machine takes no part until its replica is repaired; it gives up the pen.
        case stopped(Identity, String)
        case present(Identity)
        /// The namespace was deleted.
        case gone
    }

    /// A member's number, and the lease that its keys are attached to.
    package struct Identity: Hashable, Sendable {
        package let number: UInt32
        package let lease: StoreLease

        package init(number: UInt32, lease: StoreLease) {
            self.number = number
            self.lease = lease
        }
    }

    package nonisolated let keys: NamespaceKeys
    let store: any Store
    let settings: ClusterSettings

    var standing = Standing.absent("the daemon has not joined the namespace yet")
    /// Which machine a member is, for people.
    private var machine: @Sendable (UInt32) -> String? = { _ in nil }
    var pen = PenView()
    /// The number of the last entry, as far as it is known; it is exact while this machine has the pen.
    package var head: UInt64 { max(foreignHead, ownHead) }
    /// The number of the last entry that another machine has appended, or may have.
    private var foreignHead: UInt64 = 0
    var lastForeign: UInt64 { foreignHead }
    /// The number of the last entry that is known to be this machine's, and when the daemon applies what is left of those.
    private var ownHead: UInt64 = 0
    private var ownDue: MonotonicInstant?
    var cache: EntryCache

    /// Those who use the pen.
    var uses: Set<PenUse> = []
    /// Those who wait for it, and whether this machine must hold it for them.
    var waiting: [PenUse: Bool] = [:]
    /// The processes that use the pen and whose operations the daemon's present transaction executes.
    nonisolated let begun = Mutex<Set<PenUse>>([])
    /// How long the last append took.
    var appendTime = Duration.zero
    /// Whether a process has waited for the pen or an outcome until its time was over, and the pen has not been here since.
    var isLate = false
    /// Why the store's last answer about the pen or an outcome was an error; `nil` if it was none.
    var trouble: String?
    /// Since when the driver, and the present commit, wait for the store; `nil` if they don't.
    var askedSince: MonotonicInstant?
    var sentSince: MonotonicInstant?
    var lastUse = MonotonicInstant.now
    /// How long nothing had used the pen before the last use began; if that was short, another use may come soon.
    var idleBefore = Duration.zero
    /// This machine's use of the pen while another one waits for it.
    struct Turn {
        let begin = MonotonicInstant.now
        /// How many entries it has appended.
        var entries = 0
    }
    var turn: Turn?
    /// How often in a row another machine's entry came first, while the pen was free.
    var losses = 0
    /// Whether it is not known yet if the pen has gone to another machine, to which this one has sent it.
    ///
    /// Until then no process gets the pen: what the other machine has written since is not known here. A process that
    /// changes something would be refused, but one that finds nothing to change would tell what was true before.
    var isHandingOver = false

    /// The commit whose outcome is not known yet; there is one at most.
    var commit: Commit?
    var verdicts: [CommitID: Verdict] = [:]
    var awaited: Set<CommitID> = []
    private var counter: UInt64 = 0
    /// Whether the daemon leaves the namespace: its callers no longer wait for an outcome.
    var isEnded = false

    /// Nudged when the pen, those who want it or this machine's standing have changed.
    private let penNews = Nudge()
    /// Nudged when an outcome is known.
    private let outcomes = Nudge()
    /// Nudged when the log has an entry that must be applied.
    private let entryNews = Nudge()

    package init(store: any Store, keys: NamespaceKeys, settings: ClusterSettings) {
        self.store = store
        self.keys = keys
        self.settings = settings
        cache = EntryCache(mostBytes: settings.mostCachedBytes)
    }

    // MARK: What it is told

    package func stand(_ standing: Standing) {
        guard !isEnded else { return }
        self.standing = standing
        noteAll()
    }

    /// Ends all waits: the daemon leaves the namespace.
    ///
    /// - Parameter standing: What processes are answered from now on, unless an earlier end has said so.
    package func end(_ standing: Standing) {
        guard !isEnded else { return }
        self.standing = standing
        isEnded = true
        noteAll()
    }

    /// Learns what was read at one revision: all of the pen, and how far the log goes.
    package func begin(
        head: UInt64,
        pen row: StoreRow?,
        wants: [UInt32: StoreRow],
        revision: Int64
    ) {
        learn(head: head)
        pen.learn(row, at: revision)
        pen.learn(wants: wants, at: revision)
        noteAll()
    }

    /// Learns how to find out which machine a member is.
    package func nameMachines(_ machine: @escaping @Sendable (UInt32) -> String?) { self.machine = machine }

    /// A member in words, for people.
    func told(_ member: UInt32) -> String {
        machine(member).map { "the machine \($0) (member \(member))" } ?? "member \(member)"
    }

    /// Forgets what it knows: the store was set back to an earlier state, and gives out its revisions again.
    package func forget() {
        (foreignHead, ownHead) = (0, 0)
        pen = PenView()
        cache = EntryCache(mostBytes: settings.mostCachedBytes)
    }

    /// Learns the changes that the watch has delivered together.
    ///
    /// One transaction puts an entry and the head. What another program puts where an entry may come is none: the entry
    /// that comes replaces it.
    package func learn(_ changes: [(LiveKey, StoreChange)]) {
        var heads: [Int64: UInt64] = [:]
        for case (.head, .put(let row)) in changes {
            heads[row.modified] = row.number
        }
        for (key, change) in changes {
            if case (.log(let number), .put(let row)) = (key, change), heads[row.modified] != number { continue }
            learn(key, change)
        }
    }

    private func learn(_ key: LiveKey, _ change: StoreChange) {
        switch (key, change) {
        case (.log(let number), .put(let row)):
            // An entry that does not decode is read again by the task that needs it, and that one tells why.
            guard let value = try? LogValue(decoding: row.value, of: keys.life) else { return }
            cache.insert(number, value.entry)
            if value.commit.member == member { learn(own: number) } else { learn(head: number) }
            return
        case (.head, .put(let row)):
            // The entry itself came before, with the same revision.
            if let number = row.number { learn(head: number) }
            return
        case (.pen, .put(let row)): pen.learn(row, at: row.modified)
        case (.pen, .deleted(_, let revision)): pen.learn(nil as PenView.Holder?, at: revision)
        case (.want(let member), .put(let row)): pen.learn(want: row, of: member, at: row.modified)
        case (.want(let member), .deleted(_, let revision)): pen.learn(want: nil, of: member, at: revision)
        default: return
        }
        notePen()
    }

    /// The number under which this machine writes, if it does.
    private var member: UInt32? {
        guard case .present(let me) = standing else { return nil }
        return me.number
    }

    /// Learns how far the log goes; the last entry is another machine's unless it is known to be this one's.
    func learn(head number: UInt64) {
        guard number > head else { return }
        foreignHead = number
        entryNews.nudge()
    }

    /// Learns of an entry that a process of this machine has appended.
    func learn(own number: UInt64) {
        guard number > ownHead else { return }
        ownHead = number
        if ownDue == nil { entryNews.nudge() }
    }

    /// Whether another machine waits for the pen, and this one has it.
    package var isInTurn: Bool { turn != nil }

    /// The member that has the pen, as far as it is known; `nil` if it is free.
    package var penHolder: UInt32? { pen.holder.flatMap { $0.isFree ? nil : $0.member } }

    /// A commit's name that no commit of this member had before.
    func nextID(of member: UInt32) -> CommitID {
        counter += 1
        return CommitID(member: member, counter: counter)
    }

    // MARK: Entries

    /// The entries behind one, as far as they are in the log, until they have enough bytes.
    package func entries(behind number: UInt64, mostBytes: Int) async throws(LogReader.Failure) -> [[UInt8]] {
        let head = head
        guard number < head else { return [] }
        var found: [[UInt8]] = []
        var bytes = 0
        var next = number + 1
        while next <= head, bytes < mostBytes, let entry = cache[next] {
            found.append(entry)
            bytes += entry.count
            next += 1
        }
        guard found.isEmpty else { return found }
        for entry in try await LogReader(store: store, keys: keys).entries((number + 1)...head, mostBytes: mostBytes)
        where bytes < mostBytes {
            found.append(entry)
            bytes += entry.count
        }
        return found
    }

    /// Waits until the log has an entry behind another that this machine's processes have not applied, or the task is
    /// cancelled.
    ///
    /// A process that has appended an entry applies it itself, at once. Only if it was killed in between, the daemon has to,
    /// so it leaves those entries to their processes for a moment.
    package func waitForEntry(behind number: UInt64) async {
        while !Task.isCancelled, foreignHead <= number {
            if head <= number {
                ownDue = nil
            } else {
                let due = ownDue ?? .now.advanced(by: settings.ownPatience)
                ownDue = due.hasPassed ? nil : due
                if ownDue == nil { return }
            }
            await entryNews.wait(after: entryNews.count, until: ownDue)
        }
    }

    // MARK: Waiting

    // A caller looks first, and no change between its look and its wait is missed: both are one step of the actor.

    /// Waits until something has changed that may give or take the pen, the moment has come, or the task is cancelled.
    func waitForPen(until moment: MonotonicInstant?) async { await penNews.wait(after: penNews.count, until: moment) }

    /// Lets those look again who wait for the pen, or drive it.
    func notePen() { penNews.nudge() }

    /// Waits until an outcome is known, the moment has come, or the task is cancelled.
    func waitForOutcome(until moment: MonotonicInstant) async {
        await outcomes.wait(after: outcomes.count, until: moment)
    }

    /// Lets those look again who wait for an outcome.
    func noteOutcome() {
        outcomes.nudge()
        // Those who wait for the pen wait for the outcome of this machine's last commit, too.
        if !waiting.isEmpty || isLate { notePen() }
    }

    private func noteAll() {
        notePen()
        outcomes.nudge()
        entryNews.nudge()
    }
}
