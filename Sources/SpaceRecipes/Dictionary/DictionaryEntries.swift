import TupleCoding

extension SharedDictionary {
    /// Entries of a dictionary, by keys that compare as their UTF-8: a copy that has room for all of them.
    ///
    /// A Swift dictionary takes "é" as one scalar (U+00E9) and as two (U+0065 U+0301) for one key; in a namespace they are two.
    public struct Entries: Sendable {
        private var values: [Name: Value] = [:]

        /// Makes an empty copy, to be begun with a reset: ``DictionaryChange/apply(to:)-(SharedDictionary<Value>.Entries)``.
        public init() {}

        /// Makes a copy of a Swift dictionary's entries.
        public init(_ dictionary: [String: Value]) {
            for (key, value) in dictionary { values[Name(key)] = value }
        }

        /// The value of a key; `nil` where there is none, and setting `nil` removes it.
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

        /// How many entries there are.
        public var count: Int { values.count }

        /// Whether there is none.
        public var isEmpty: Bool { values.isEmpty }

        /// As far as a Swift dictionary has room: of keys that are equal to it, the last by UTF-8.
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
