/// The state of a namespace: what is in it, which processes keep it alive, which wait, and what is claimed.
///
/// Times are milliseconds since 1970.
public struct NamespaceStatus: Sendable {
    /// A process that keeps the namespace alive, or only uses it.
    public struct Owner: Sendable, Hashable {
        /// How a process is tied to the namespace.
        public enum Kind: String, Sendable {
            /// The process has the namespace open, and keeps it alive.
            case session
            /// The process is enrolled, and keeps the namespace alive as long as it runs.
            case enrolled
            /// The process has the namespace open, and does not keep it alive.
            case visitor
        }

        /// The process.
        public let pid: Int32
        /// The process's name from `/proc`; `nil` if it can't be read.
        public let command: String?
        /// The time from which the process has used the namespace or been enrolled.
        public let since: Int64
        /// Whether the process lives.
        public let isAlive: Bool
        /// How the process is tied to the namespace.
        public let kind: Kind
    }

    /// What a process has in a namespace: a watcher, a claim, a hold, a responder or a request.
    public protocol Entry: Sendable, Hashable {
        /// The process id; `nil` if the process runs on another machine, or is gone, so that the entry is about to go;
        /// also `nil` for a subscription whose process is away, and for a buried tuple.
        var pid: Int32? { get }
        /// The process if it runs on another machine that shares the namespace, as `PID@MACHINE`, or `MACHINE` if its PID
        /// is not known there; `nil` if it runs here.
        var elsewhere: String? { get }
    }

    /// What kind of thing a waiter waits for.
    public enum WaitKind: Sendable, Hashable {
        /// A tuple.
        case tuple
        /// A cell.
        case cell
        /// Its turn at an object, such as a lock, or an answer; `nil` if the object's kind is not known.
        case object(SharedObjectKind?)

        /// The name of the kind in JSON and in metrics: `tuple`, `cell`, that of the object's kind, or `object`.
        package var name: String {
            switch self {
            case .tuple: "tuple"
            case .cell: "cell"
            case .object(let kind): kind?.name ?? "object"
            }
        }
    }

    /// A thread or task that waits for a tuple, a cell, or its turn at an object.
    public struct Waiter: Sendable, Hashable {
        /// The process id; `nil` if the waiter's session is gone.
        public let pid: Int32?
        /// What it waits for, in JSON form, shortened if long; empty until the waiter goes to sleep.
        public var template: String { shown.text }
        let shown: Name
        /// What kind of thing it waits for.
        public let kind: WaitKind
        /// Whether the waiter takes; if not, it only reads.
        public let isTaking: Bool
        /// The time at which the wait began.
        public let since: Int64
    }

    /// A file to which each commit is added before it counts.
    public struct Log: Sendable, Hashable {
        /// The file's path.
        public let path: String
        /// The number of the last entry that the namespace has.
        public let entry: UInt64
        /// Whether the namespace is a standby: then only the log's entries write in it.
        public let isFollowed: Bool
    }

    /// A registration to be told of changes.
    public struct Watcher: Entry, ProcessEntry {
        package let process: HolderProcess
        /// The subscription's name; `nil` for a watcher that is not a subscription.
        public var subscription: String? { subscribed?.text }
        let subscribed: Name?
        /// The filter that selects the changes for this watcher, as text.
        public var filter: String { shown.text }
        let shown: Name
        /// The number of the last change that the watcher has acknowledged, or after which it began.
        public let position: UInt64
    }

    /// A tuple that is claimed or buried.
    public struct Claim: Entry, ProcessEntry {
        /// The claim and its tuple; the number of a buried tuple, and of one that rests, is 0.
        public let held: HeldClaim
        package let process: HolderProcess
        /// The claim's deadline, or when a tuple that rests returns; `nil` if it has none.
        public let deadline: Int64?
        /// Whether it was released with a delay that goes on: no process has it.
        package var isResting: Bool { held.number == 0 && deadline != nil }
        /// By which process and when the tuple was written.
        package let origin: Origin
        /// When the tuple expires, in milliseconds since 1970; `nil`: never.
        package let expires: Int64?
        /// The process with which the tuple ends, 0 if it is not known; `nil`: with none.
        package let endsWith: Int32?
    }

    /// A place in the queue of a name that processes hold: a lock, a semaphore, an election, a barrier.
    public struct Hold: Entry, ProcessEntry {
        /// The name that is held.
        public var name: String { named.text }
        package let named: Name
        /// The kind of the hold, such as a lock and a semaphore.
        public let kind: SharedObjectKind
        /// Whether the process holds the name; if not, it waits for it.
        public let isHeld: Bool
        /// Whether the hold is, or will be, shared.
        public let isShared: Bool
        /// The number of permits.
        public let weight: Int
        /// The fencing number; of the places of one name, the one with the smallest number came first.
        public let fencing: UInt64
        package let process: HolderProcess
        /// The time at which the process entered the queue.
        public let since: Int64
        /// Further data of the kind: the number of permits of a semaphore, the value of a candidate.
        public let details: Value
    }

    /// A shape of templates that has an index.
    package struct Shape: Sendable, Hashable {
        /// The bound fields of the shape, as text for people.
        package let description: String
        /// `building`, `ready` or `dropping`.
        package let state: String
    }

    /// The name.
    public let name: String
    /// The storage mode.
    package let mode: StorageMode
    /// Whether the namespace stays when it has no owners.
    package let isPersistent: Bool
    /// The format version on disk.
    package let version: Int
    /// The time of the namespace's creation.
    public let created: Int64
    /// The life of the namespace; each creation under this name begins a new one.
    package let life: NamespaceLife
    /// The number of the last change.
    public let sequence: UInt64
    /// The number of visible tuples, including those that have expired and are not yet removed.
    public let tuples: Int
    /// When the oldest visible tuple was written; `nil` if there is none.
    package let oldest: Int64?
    /// The number of cells that are set.
    public let cells: Int
    /// The bytes of the data file that are in use, including pages that will be used again.
    public let bytes: Int
    /// The bytes that the blocks of its files take up, on disk or in memory.
    public let diskBytes: Int
    /// The limit of the data file's size, in bytes.
    public let byteLimit: Int
    /// How much of the changes is kept even while there is no watcher; `nil`: nothing.
    public let history: History?
    /// The log of the namespace's commits; `nil` if they are not logged.
    public let log: Log?
    /// The machines that share the namespace, by member; empty in a namespace of one machine.
    public let machines: [String]
    /// Whether several machines share the namespace.
    package let isReplicated: Bool
    /// The number of the last entry of the machines' log that this machine's replica has; 0 in a namespace of one machine.
    public let entry: Int
    /// How long waits for tuples have lasted; `nil` if it is not measured (``Namespace/setMeasuringLatency(_:)``), or
    /// if the measurements can't be read.
    public let latency: Latency?
    /// The processes that use the namespace or keep it alive.
    public let owners: [Owner]
    /// The waiters.
    public let waiters: [Waiter]
    /// The watchers.
    public let watchers: [Watcher]
    /// The claims on tuples.
    public let claims: [Claim]
    /// The tuples that are buried; no process claims them.
    public let buried: [Claim]
    /// The number of deliveries after which a returning tuple is buried; `nil`: never.
    public let deliveryLimit: Int?
    /// The places in the queues of held names, ordered by name and then as in the queue.
    public let holds: [Hold]
    /// The waits for objects.
    package let waits: ObjectWaits
    /// The responders, ordered by name and then in the order in which they are asked.
    public let responders: [Responder]
    /// The requests that are not done, in the order in which they were made.
    public let requests: [Request]
    /// The shapes that have an index.
    package let shapes: [Shape]
    /// The named objects: ordered sets and others.
    public let objects: [SharedObjectInfo]
}

extension Namespace {
    /// The state of the namespace, without the tuples and cells themselves.
    ///
    /// First the claims of dead processes are returned, and their holds ended, so that no dead process is shown as a
    /// holder. If the gate can't be acquired for this, such a claim or hold is shown without a process.
    public func status() throws(SpaceError) -> NamespaceStatus {
        try attempt("look at the namespace") { (core) throws(SpaceError) in
            core.endedHolders.returnClaimsOfTheDead(timeout: Engine.upkeepPatience)
            let folder = try core.engine.presentFolder()
            let sightings = try folder.sightings()
            let diskBytes = folder.diskBytes
            // Damage there is reported by the check, and ends no look.
            let latency = (try? NamespaceStatus.Latency(in: folder, core.control)) ?? nil
            return try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
                try NamespaceStatus(
                    name: core.name.text,
                    control: core.control,
                    sightings: sightings,
                    snapshot: snapshot,
                    bytes: core.engine.bytesInUse,
                    diskBytes: diskBytes,
                    latency: latency
                )
            }
        }
    }
}
