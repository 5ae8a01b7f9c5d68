import LMDB
public import TupleCoding

/// What a look at a namespace shows: what is in it, who keeps it alive, who waits, and what is claimed.
///
/// Times are milliseconds since 1970.
public struct NamespaceStatus: Sendable {
    /// A process that keeps the namespace alive, or uses it.
    public struct Owner: Sendable, Hashable {
        /// How a process is tied to the namespace.
        public enum Kind: String, Sendable {
            /// It has the namespace open, and keeps it alive.
            case session
            /// It was enrolled, and keeps the namespace alive as long as it runs.
            case enrolled
            /// It has the namespace open, and keeps nothing alive.
            case visitor
        }

        /// The process.
        public let pid: Int32
        /// Its name, as `/proc` has it; `nil` when it can't be seen.
        public let command: String?
        /// Since when.
        public let since: Int64
        /// Whether the process lives.
        public let isAlive: Bool
        /// How it is tied to the namespace.
        public let kind: Kind
    }

    /// Somebody who waits for a tuple or a cell.
    public struct Waiter: Sendable, Hashable {
        /// The process; `nil` when its session has gone.
        public let pid: Int32?
        /// What it waits for, in JSON form, cut when long; empty while it has not gone to sleep yet.
        public var template: String { shown.text }
        let shown: Name
        /// Whether it takes, or only reads.
        public let isTaking: Bool
        /// Since when.
        public let since: Int64
    }

    /// Somebody who is told of changes.
    public struct Watcher: Sendable, Hashable {
        /// The process; `nil` for a subscription whose process is away.
        public let pid: Int32?
        /// The subscription's name; `nil`: none.
        public var subscription: String? { subscribed?.text }
        let subscribed: Name?
        /// What it is told of, as text.
        public var filter: String { shown.text }
        let shown: Name
        /// The change that it has acknowledged, or began after.
        public let position: UInt64
    }

    /// A tuple that somebody has claimed.
    public struct Claim: Sendable, Hashable {
        /// The tuple's id.
        public let id: TupleID
        /// The claim's number, which no other claim in the namespace ever has.
        public let number: UInt64
        /// The process; `nil` when its session has gone, and the claim is about to return.
        public let pid: Int32?
        /// Until when; `nil`: without limit.
        public let deadline: Int64?
        /// The tuple.
        public let tuple: Tuple
        /// How often a claim on it came back.
        public let deliveries: Int
    }

    /// A place in the queue of something that is held by name: a lock, a semaphore, an election, a barrier.
    public struct Hold: Sendable, Hashable {
        /// The name.
        public var name: String { named.text }
        package let named: Name
        /// What it is, such as `lock` and `semaphore`.
        public let kind: String
        /// Whether it is held, or waited for.
        public let isHeld: Bool
        /// Whether it is, or is to be, shared.
        public let isShared: Bool
        /// How many permits.
        public let weight: Int
        /// The fencing number; who has the smallest of a name came first.
        public let fencing: UInt64
        /// The process; `nil` when its session has gone, and the place is about to go.
        public let pid: Int32?
        /// Since when.
        public let since: Int64
        /// What the kind keeps beside it: how many permits there are, a candidate's value.
        public let details: Value
    }

    /// A shape of templates that has an index.
    public struct Shape: Sendable, Hashable {
        /// Which fields are bound, for people.
        public let description: String
        /// `building`, `ready` or `dropping`.
        public let state: String
    }

    /// The name.
    public let name: String
    /// The storage mode.
    public let mode: StorageMode
    /// Whether it stays without owners.
    public let isPersistent: Bool
    /// The format version on disk.
    public let version: Int
    /// When it was created.
    public let created: Int64
    /// Which of the lives of a namespace of this name it is.
    public let life: NamespaceLife
    /// The number of the last change.
    public let sequence: UInt64
    /// How many tuples are visible or expired and not yet removed.
    public let tuples: Int
    /// How many cells are set.
    public let cells: Int
    /// How many bytes of the data file are in use, pages that will be used again included.
    public let bytes: Int
    /// How large the data file may grow.
    public let byteLimit: Int
    /// How much of what happened is kept also while nobody watches; `nil`: nothing.
    public let history: History?
    /// Who uses it.
    public let owners: [Owner]
    /// Who waits.
    public let waiters: [Waiter]
    /// Who watches.
    public let watchers: [Watcher]
    /// What is claimed.
    public let claims: [Claim]
    /// What is set aside: claimed by nobody.
    public let buried: [Claim]
    /// After how many deliveries a returning tuple is set aside; `nil`: never.
    public let deliveryLimit: Int?
    /// What is held by name, and who waits for it, by name and in the order of the queues.
    public let holds: [Hold]
    /// Who answers requests, by name and in the order in which they are asked.
    public let responders: [Responder]
    /// What is asked and not done, in the order in which it was.
    public let requests: [Request]
    /// What is indexed.
    public let shapes: [Shape]
    /// The named objects: ordered sets and others.
    public let objects: [SharedObjectInfo]
}

extension Namespace {
    /// Looks at everything but the tuples and cells themselves.
    ///
    /// What dead processes had claimed or held returns first, so that none of them is shown as a holder; where the gate is not to be
    /// had for that, it is shown without a process.
    public func status() throws(SpaceError) -> NamespaceStatus {
        let operation = "look at the namespace"
        let core = try usableCore(operation)
        core.returnClaimsOfTheDead(timeout: NamespaceCore.upkeepPatience)
        guard let folder = try core.engine.openFolder(operation) else { throw core.engine.goneError(operation) }
        let sightings = try folder.sightings(operation)
        return try core.read(operation) { (snapshot) throws(SpaceError) in
            try NamespaceStatus(
                name: core.name.text,
                control: core.control,
                sightings: sightings,
                snapshot: snapshot,
                bytes: (core.environment.info.lastPage + 1) * core.environment.pageSize
            )
        }
    }
}
