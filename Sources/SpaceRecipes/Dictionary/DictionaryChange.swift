import TupleCoding

/// What an observer of a dictionary is told: a change of an entry, or where all that there is begins anew.
public struct DictionaryChange<Value: Codable & Sendable>: Sendable {
    /// What can happen.
    public enum Event: Sendable {
        /// The entries are these: at first, and after changes that were missed. An observer of one key is given that alone.
        ///
        /// Of keys that are equal to Swift and differ as UTF-8 a Swift dictionary holds one: ``DictionaryChange/entries`` has all.
        case reset([String: Value])
        /// The value of a key was set; `old` is `nil` where there was none, or one that does not decode.
        case set(_ key: String, Value, old: Value?)
        /// The value of a key was removed; `old` is `nil` where it does not decode.
        case unset(_ key: String, old: Value?)
        /// The dictionary was removed, or the namespace deleted; nothing follows.
        case removed
    }

    /// What happened.
    public let event: Event
    /// The number of the change; of a reset, that of the last change that the entries hold.
    public let sequence: UInt64
    /// When, milliseconds since 1970.
    public let time: Int64
    /// The process that did it; 0 of a reset.
    public let pid: Int32
    /// The transaction: changes with the same number were committed together; 0 of a reset.
    public let batch: UInt64

    /// Of a reset: all entries, also those whose keys are equal to Swift; of everything else `nil`.
    public let entries: SharedDictionary<Value>.Entries?

    init(_ event: Event, _ change: Change, sequence: UInt64? = nil, entries: SharedDictionary<Value>.Entries? = nil) {
        self.event = event
        self.entries = entries
        self.sequence = sequence ?? change.lastSequence
        time = change.time
        pid = change.pid
        batch = change.batch
    }

    /// Does the same to a copy of the entries.
    ///
    /// A copy that is begun with a reset and is given every change since equals the dictionary, as long as no two keys of it are
    /// equal to Swift and differ as UTF-8. Where that may be, keep the copy as ``SharedDictionary/Entries``.
    public func apply(to copy: inout [String: Value]) {
        switch event {
        case .reset(let entries): copy = entries
        case .set(let key, let value, _): copy[key] = value
        case .unset(let key, _): copy[key] = nil
        case .removed: copy = [:]
        }
    }

    /// Does the same to a copy of the entries whose keys compare as UTF-8.
    ///
    /// A copy that is begun with a reset and is given every change since equals the dictionary.
    ///
    /// - Complexity: O(1) but for a reset.
    public func apply(to copy: inout SharedDictionary<Value>.Entries) {
        switch event {
        case .reset: copy = entries ?? copy
        case .set(let key, let value, _): copy[key] = value
        case .unset(let key, _): copy[key] = nil
        case .removed: copy = SharedDictionary<Value>.Entries()
        }
    }
}

extension DictionaryChange.Event: Equatable where Value: Equatable {
    /// Whether both tell the same; keys compare as UTF-8.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.reset(let left), .reset(let right)):
            SharedDictionary<Value>.Entries(left) == SharedDictionary<Value>.Entries(right)
        case (.set(let key, let new, let old), .set(let otherKey, let otherNew, let otherOld)):
            key.isSame(as: otherKey) && new == otherNew && old == otherOld
        case (.unset(let key, let old), .unset(let otherKey, let otherOld)):
            key.isSame(as: otherKey) && old == otherOld
        case (.removed, .removed): true
        default: false
        }
    }
}
