import Glibc
import TupleCoding

/// Something that happened in a namespace, as a watcher is told of it.
public struct Change: Sendable {
    /// What can happen.
    public enum Kind: UInt8, Sendable, CaseIterable, CustomStringConvertible {
        /// A tuple was written.
        case write = 1
        /// A tuple was taken.
        case take
        /// A tuple's time passed.
        case expire
        /// A tuple was claimed: out of sight, and perhaps back later.
        case claim
        /// A claim was completed: the tuple is gone.
        case complete
        /// A claimed tuple returned to its place.
        case `return`
        /// A tuple was set aside after too many deliveries.
        case bury
        /// A cell was set.
        case set
        /// A cell was unset.
        case unset
        /// A notification was posted.
        case post
        /// Changes were dropped before this watcher read them: those from `sequence` to `lastSequence`.
        case gap
        /// The namespace was deleted; the last of all.
        case gone
        /// Elements came into an ordered set.
        case insert = 20
        /// Elements were removed from an ordered set.
        case remove
        /// An element of an ordered set was replaced.
        case replace
        /// Elements of an ordered set were moved.
        case move
        /// Two elements of an ordered set changed places.
        case exchange
        /// An ordered set was brought into another order.
        case sort
        /// An ordered set was changed by more than a change can tell: what it holds is to be read anew.
        case reset
        /// An ordered set, or a dictionary, was removed as a whole.
        case discard

        /// The event's name, as the commands print it.
        public var description: String {
            switch self {
            case .write: "write"
            case .take: "take"
            case .expire: "expire"
            case .claim: "claim"
            case .complete: "complete"
            case .return: "return"
            case .bury: "bury"
            case .set: "set"
            case .unset: "unset"
            case .post: "post"
            case .gap: "gap"
            case .gone: "gone"
            case .insert: "insert"
            case .remove: "remove"
            case .replace: "replace"
            case .move: "move"
            case .exchange: "exchange"
            case .sort: "sort"
            case .reset: "reset"
            case .discard: "discard"
            }
        }

        /// Whether it is something that happens to ordered sets.
        package var isOfCollection: Bool {
            switch self {
            case .insert, .remove, .replace, .move, .exchange, .sort, .reset, .discard: true
            default: false
            }
        }
    }

    /// The number: rises by one with every change of the namespace.
    ///
    /// Of a gap, the first one missed.
    public let sequence: UInt64
    /// What happened.
    public let kind: Kind
    /// When, milliseconds since 1970.
    public let time: Int64
    /// The process that did it; 0 where none did (a gap, the end).
    public let pid: Int32
    /// The transaction: changes with the same number were committed together.
    public let batch: UInt64
    /// The tuple's id, for what happens to tuples.
    public let id: TupleID?
    /// The tuple, for what happens to tuples.
    public let tuple: Tuple?
    /// The cell's key, the notification's name, or the collection's.
    public let key: String?
    /// The cell's value before; `nil` where it was not set.
    public internal(set) var old: Value?
    /// The cell's value after, or the notification's value.
    public internal(set) var new: Value?
    /// What was done to an ordered set; `nil` of a reset, and for everything else.
    public internal(set) var edit: CollectionEdit<Value>?
    /// Of a gap: the last one missed.
    public let lastSequence: UInt64
    /// Of a notification: the number that the process has given to the object that posted it; `nil`: posted for none.
    public internal(set) var senderID: Int?
    /// Whether this is no change, but what was there when the watcher registered: a tuple as `write`, a cell as `set`.
    ///
    /// Its `sequence` is the last change before the registration; process and transaction are 0.
    public internal(set) var isPresent = false

    /// Of a notification: the object that posted it, if that was in this process and the object still lives.
    public var sender: (any AnyObject & Sendable)? {
        guard let senderID, pid == getpid() else { return nil }
        return SenderNumbers.shared.object(senderID)
    }
    /// Whether this is the first of two calls for one change: see ``ObservationOptions/prior``.
    public internal(set) var isPrior = false
}

/// Which changes a watcher is told of.
///
/// A gap, and the namespace's end, it is always told.
public struct ChangeFilter: Sendable {
    /// What happens to tuples that match; `nil`: to none.
    public var tuples: Template?
    /// Which cells.
    public var cells: Cells
    /// Which notifications.
    public var notifications: Notifications
    /// Which ordered sets and dictionaries.
    public var collections: Collections
    /// Which kinds; `nil`: all.
    public var kinds: Set<Change.Kind>?

    /// A choice of ordered sets and dictionaries.
    ///
    /// The entries of a dictionary are cells, so `all` does not tell of them: choose all cells too.
    public enum Collections: Sendable, Hashable {
        /// None.
        case none
        /// All.
        case all
        /// The one of a name.
        case named(String)
    }

    /// A choice of cells.
    public enum Cells: Sendable, Hashable {
        /// None.
        case none
        /// All.
        case all
        /// One, or with a path a part of its value: `"user.name"` is the part `name` of the cell `user`. A watcher of a part
        /// is told only when that part changes.
        case key(String)
    }

    /// A choice of notifications.
    public enum Notifications: Sendable, Hashable {
        /// None.
        case none
        /// All.
        case all
        /// Those of a name.
        case named(String)
        /// Those that a process, or an object of this one, posts; with a name, or all.
        case sent(by: PostSender, named: String? = nil)
    }

    /// Everything.
    public static let everything = ChangeFilter(tuples: .any, cells: .all, notifications: .all, collections: .all)

    /// Makes a filter.
    public init(
        tuples: Template? = nil,
        cells: Cells = .none,
        notifications: Notifications = .none,
        collections: Collections = .none,
        kinds: Set<Change.Kind>? = nil
    ) {
        self.tuples = tuples
        self.cells = cells
        self.notifications = notifications
        self.collections = collections
        self.kinds = kinds
    }

    /// The filter as text, for those who look on.
    package var text: String {
        var parts: [String] = []
        if let tuples { parts.append(tuples.json) }
        switch cells {
        case .none: break
        case .all: parts.append("all keys")
        case .key(let key): parts.append("key \(key)")
        }
        switch notifications {
        case .none: break
        case .all: parts.append("all posts")
        case .named(let name): parts.append("post \(name)")
        case .sent(let sender, let name):
            parts.append((name.map { "post \($0)" } ?? "all posts") + " of process \(sender.pid)")
        }
        switch collections {
        case .none: break
        case .all: parts.append("all collections")
        case .named(let name): parts.append("collection \(name)")
        }
        if let kinds { parts.append(kinds.map(\.description).sorted().joined(separator: ",")) }
        return parts.joined(separator: ", ")
    }
}
