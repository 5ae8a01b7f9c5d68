import Glibc
import SpaceSystem

/// One thing that happened in a namespace, as a watcher receives it.
public struct Change: Sendable {
    /// The change's number, which rises by one with every change of the namespace.
    ///
    /// For a gap, it is the number of the first change missed. The end of the namespace (``ChangeKind/gone``) has no
    /// number of its own: this is the number of the last change before it.
    public let sequence: UInt64
    /// What happened.
    public let kind: ChangeKind
    /// What it happened to.
    public internal(set) var event: Event
    /// The time of the change, in milliseconds since 1970.
    public let time: Int64
    /// The process that made the change; 0 if no process did (a gap, the end).
    public let pid: Int32
    /// The machine on which the process runs, in a namespace that several machines share; `nil`: this one.
    public internal(set) var machine: String?
    /// The number of the transaction: changes with the same number were committed together.
    public let batch: UInt64
    /// Whether this is not a change but an item that existed when the watcher registered: a tuple as `write`, a cell
    /// as `set`.
    ///
    /// Its `sequence` is that of the last change before the registration; its process and transaction are 0.
    public internal(set) var isPresent = false
    /// Whether this is the first of two calls for one change: see ``ObservationOptions/prior``.
    public internal(set) var isPrior = false

    /// What a change happened to; ``Change/kind`` says what happened to it.
    public enum Event: Sendable {
        /// A tuple was written, taken or claimed, returned, expired, or was buried.
        case tuple(Tuple, TupleID)
        /// A cell was set or unset: its values before and after, `nil` where it was not set.
        case cell(String, old: Value?, new: Value?)
        /// A notification was posted. The number is that of the object that posted it, unique in its process; `nil` if no
        /// object was named.
        case notification(String, Value?, senderID: Int?)
        /// An ordered set was edited; `nil` if it was reset, or the set or the dictionary was removed as a whole.
        case collection(String, CollectionEdit<Value>?)
        /// A responder to a name has come, has gone or has replaced another: the keys of the old responder and of the
        /// new one.
        case responder(String, old: Value?, new: Value?)
        /// Something that is held or counted has changed: who held it, or its number, before and after.
        case object(String, old: Value?, new: Value?)
        /// Processes wait for each other in a circle.
        case deadlock(Value?)
        /// Changes were dropped before this watcher read them: from ``Change/sequence`` to this one.
        case gap(through: UInt64)
        /// The namespace was deleted; this is the last change of all.
        case gone
    }
}

// Parts of the event, for code that waits for one kind of change.
extension Change {
    /// The tuple, if the change is about one.
    public var tuple: Tuple? { if case .tuple(let tuple, _) = event { tuple } else { nil } }

    /// The key of the cell, or the name of the notification, the collection, the responders, or what is held or counted.
    public var key: String? {
        switch event {
        case .cell(let name, _, _), .notification(let name, _, _), .collection(let name, _), .responder(let name, _, _),
            .object(let name, _, _):
            name
        case .tuple, .deadlock, .gap, .gone: nil
        }
    }

    /// What was there before: the cell's value, the key of the responder that has gone.
    public var old: Value? {
        switch event {
        case .cell(_, let old, _), .responder(_, let old, _), .object(_, let old, _): old
        default: nil
        }
    }

    /// What is there now: the cell's value, the notification's, the key of the responder that has come.
    public var new: Value? {
        switch event {
        case .cell(_, _, let new), .notification(_, let new, _), .responder(_, _, let new), .object(_, _, let new): new
        case .deadlock(let processes): processes
        case .tuple, .collection, .gap, .gone: nil
        }
    }

    /// For a notification, the object that posted it, if it belongs to this process and still lives.
    public var sender: (any AnyObject & Sendable)? {
        guard let senderID, pid == getpid(), machine == nil else { return nil }
        return SenderNumbers.shared.object(senderID)
    }

    package var id: TupleID? { if case .tuple(_, let id) = event { id } else { nil } }

    package var edit: CollectionEdit<Value>? { if case .collection(_, let edit) = event { edit } else { nil } }

    package var senderID: Int? { if case .notification(_, _, let number) = event { number } else { nil } }

    /// For a gap, the number of the last change missed; otherwise the same as `sequence`.
    package var lastSequence: UInt64 { if case .gap(let last) = event { last } else { sequence } }
}

// Changes that no process made.
extension Change {
    package init(gapFrom first: UInt64, to last: UInt64) { self.init(.gap, .gap(through: last), at: first) }

    package init(gone sequence: UInt64) { self.init(.gone, .gone, at: sequence) }

    /// A tuple that exists at the registration.
    package init(present tuple: Tuple, id: UInt64, at sequence: UInt64) {
        self.init(.write, .tuple(tuple, TupleID(rawValue: id)), at: sequence, isPresent: true)
    }

    /// A cell that is set at the registration.
    package init(presentCell key: String, value: Value, at sequence: UInt64) {
        self.init(.set, .cell(key, old: nil, new: value), at: sequence, isPresent: true)
    }

    /// An ordered set or a dictionary that exists at the registration, and that the watcher has to read itself.
    package init(presentCollection name: String, at sequence: UInt64) {
        self.init(.reset, .collection(name, nil), at: sequence, isPresent: true)
    }

    /// A cell that is not set at the registration.
    package init(presentUnset key: String, at sequence: UInt64) {
        self.init(.unset, .cell(key, old: nil, new: nil), at: sequence, isPresent: true)
    }

    private init(_ kind: ChangeKind, _ event: Event, at sequence: UInt64, isPresent: Bool = false) {
        self.init(
            sequence: sequence,
            kind: kind,
            event: event,
            time: Clock.realtimeMilliseconds(),
            pid: 0,
            batch: 0,
            isPresent: isPresent
        )
    }
}
