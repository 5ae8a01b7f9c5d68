/// A change of a dictionary, as its observers get it: a changed entry, or a reset with all entries.
public struct DictionaryChange<Value: Codable & Sendable>: Sendable {
    /// The kinds of change.
    public enum Event: Sendable {
        /// All entries: at first, and after changes that were missed. An observer of one key gets only that entry.
        ///
        /// If two keys are equal for Swift but differ as UTF-8, this dictionary holds one of them:
        /// ``DictionaryChange/entries`` has all.
        case reset([String: Value])
        /// The value of a key was set; `old` is `nil` if there was none, or one that does not decode.
        case set(_ key: String, Value, old: Value?)
        /// The value of a key was removed; `old` is `nil` if it does not decode.
        case unset(_ key: String, old: Value?)
        /// The dictionary was removed or the namespace deleted; nothing follows.
        case removed
    }

    /// The change itself.
    public let event: Event
    /// The number of the change; for a reset, the number of the last change that the entries contain.
    public let sequence: UInt64
    /// The time of the change, in milliseconds since 1970.
    public let time: Int64
    /// The process that made the change; 0 for a reset.
    public let pid: Int32
    /// The number of the transaction: changes with the same number were committed together; 0 for a reset.
    public let batch: UInt64

    /// The dictionary that has changed, for reading and editing; it may have changed again since.
    public let dictionary: SharedDictionary<Value>

    /// All entries of a reset, even those whose keys are equal for Swift; `nil` for other changes.
    public let entries: SharedDictionary<Value>.Entries?

    init(
        _ event: Event,
        _ change: Change,
        of dictionary: SharedDictionary<Value>,
        sequence: UInt64? = nil,
        entries: SharedDictionary<Value>.Entries? = nil
    ) {
        self.event = event
        self.dictionary = dictionary
        self.entries = entries
        self.sequence = sequence ?? change.lastSequence
        time = change.time
        pid = change.pid
        batch = change.batch
    }

    /// Applies the change to a copy of the entries.
    ///
    /// A copy that begins with a reset and gets every later change equals the dictionary, as long as no two of its keys
    /// are equal for Swift but differ as UTF-8. If such keys are possible, keep the copy as
    /// ``SharedDictionary/Entries``.
    public func apply(to copy: inout [String: Value]) {
        switch event {
        case .reset(let entries): copy = entries
        case .set(let key, let value, _): copy[key] = value
        case .unset(let key, _): copy[key] = nil
        case .removed: copy = [:]
        }
    }

    /// Applies the change to a copy of the entries whose keys compare as UTF-8.
    ///
    /// A copy that begins with a reset and gets every later change equals the dictionary.
    ///
    /// - Complexity: O(1), except for a reset.
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
    /// Whether both are the same event; keys compare as UTF-8.
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

/// The changes of a dictionary, one after the other.
public typealias DictionaryChanges<Value: Codable & Sendable> = CollectionChangeSequence<DictionaryChange<Value>>
