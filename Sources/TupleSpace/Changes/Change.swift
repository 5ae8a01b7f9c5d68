import Glibc
import TupleCoding

/// Something that happened in a namespace, as a watcher is told of it.
public struct Change: Sendable {
    /// What can happen.
    public typealias Kind = ChangeKind

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
