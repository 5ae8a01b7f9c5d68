import Glibc
import TupleCoding

/// One thing that happened in a namespace, as a watcher receives it.
public struct Change: Sendable {
    /// The kinds of change.
    public typealias Kind = ChangeKind

    /// The change's number, which rises by one with every change of the namespace.
    ///
    /// For a gap, it is the number of the first change missed.
    public let sequence: UInt64
    /// What happened.
    public let kind: Kind
    /// The time of the change, in milliseconds since 1970.
    public let time: Int64
    /// The process that made the change; 0 if no process did (a gap, the end).
    public let pid: Int32
    /// The machine on which the process runs, in a namespace that several machines share; `nil`: this one.
    public internal(set) var machine: String?
    /// The number of the transaction: changes with the same number were committed together.
    public let batch: UInt64
    /// The tuple's id, if the change is about a tuple.
    public let id: TupleID?
    /// The tuple, if the change is about one.
    public let tuple: Tuple?
    /// The key of the cell, or the name of the notification, the collection, the responders, or what is held or counted;
    /// `nil` for a deadlock.
    public let key: String?
    /// The cell's value before the change, `nil` if it was not set; or the key of the responder that has gone or was
    /// replaced.
    public internal(set) var old: Value?
    /// The cell's value after the change, or the notification's value; or the key of the responder that has come.
    public internal(set) var new: Value?
    /// The edit of an ordered set; `nil` for a reset, and for every other kind of change.
    public internal(set) var edit: CollectionEdit<Value>?
    /// For a gap, the number of the last change missed; otherwise the same as `sequence`.
    public let lastSequence: UInt64
    /// For a notification, the number of the object that posted it, unique in its process; `nil` if no object was
    /// named.
    public internal(set) var senderID: Int?
    /// Whether this is not a change but an item that existed when the watcher registered: a tuple as `write`, a cell
    /// as `set`.
    ///
    /// Its `sequence` is that of the last change before the registration; its process and transaction are 0.
    public internal(set) var isPresent = false

    /// For a notification, the object that posted it, if it belongs to this process and still lives.
    public var sender: (any AnyObject & Sendable)? {
        guard let senderID, pid == getpid(), machine == nil else { return nil }
        return SenderNumbers.shared.object(senderID)
    }
    /// Whether this is the first of two calls for one change: see ``ObservationOptions/prior``.
    public internal(set) var isPrior = false
}
