extension SharedDictionary {
    /// A copy of a dictionary's entries, with keys that compare as their UTF-8, so that all of them fit.
    ///
    /// For a Swift dictionary "é" as one scalar (U+00E9) and as two (U+0065 U+0301) is one key; in a namespace these
    /// are two keys.
    public struct Entries: Sendable {
        private var values: [Name: Value] = [:]

        /// Makes an empty copy, to begin with a reset:
        /// ``DictionaryChange/apply(to:)-(SharedDictionary<Value>.Entries)``.
        public init() {}

        /// Makes a copy of a Swift dictionary's entries.
        package init(_ dictionary: [String: Value]) {
            for (key, value) in dictionary { values[Name(key)] = value }
        }

        /// The value of a key, or `nil` if there is none; setting `nil` removes the entry.
        ///
        /// - Complexity: O(1).
        public subscript(key: String) -> Value? {
            get { values[Name(key)] }
            set { values[Name(key)] = newValue }
        }

        /// The keys, in the order of their UTF-8.
        ///
        /// - Complexity: O(n log n).
        public var keys: [String] { values.keys.sorted().map(\.text) }

        /// The number of entries.
        public var count: Int { values.count }

        /// Whether there are no entries.
        public var isEmpty: Bool { values.isEmpty }

        /// The entries as a Swift dictionary: of keys that are equal for Swift, it has the last by UTF-8.
        var asDictionary: [String: Value] {
            Dictionary(map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        }
    }
}

extension SharedDictionary.Entries: Sequence {
    /// Iterates in the order of the keys' UTF-8.
    ///
    /// - Complexity: O(n log n).
    public func makeIterator() -> IndexingIterator<[(key: String, value: Value)]> {
        values.sorted { $0.key < $1.key }.map { (key: $0.key.text, value: $0.value) }.makeIterator()
    }
}

extension SharedDictionary.Entries: Equatable where Value: Equatable {}
