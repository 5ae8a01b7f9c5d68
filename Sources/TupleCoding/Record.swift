/// Named values: a tuple whose fields have names, or an object inside a field.
///
/// Names are unique, and kept in the order of their UTF-8 bytes, whatever order they are given in.
public struct Record: Sendable, Hashable, Comparable, OrderedByEncoding {
    private struct Entry: Sendable, Hashable {
        let name: Name
        var value: Value
    }

    private var entries: [Entry] = []

    package init() {}

    /// Makes a record of names and values in any order.
    ///
    /// - Throws: `TupleCodingError` if the same UTF-8 bytes occur twice as a name.
    public init(_ elements: some Sequence<(String, Value)>) throws(TupleCodingError) {
        entries = Self.sorted(elements)
        for (earlier, later) in zip(entries, entries.dropFirst()) where earlier.name == later.name {
            throw TupleCodingError(.duplicateName, "the name \(later.name.text.debugDescription) occurs twice")
        }
    }

    /// Makes a record of a literal's elements.
    ///
    /// - Precondition: No name occurs twice.
    package init(literal elements: some Sequence<(String, Value)>) {
        entries = Self.sorted(elements)
        for (earlier, later) in zip(entries, entries.dropFirst()) {
            precondition(earlier.name != later.name, "a record literal has the name \(later.name.text) twice")
        }
    }

    /// Makes a record of elements that are sorted by name and unique.
    package init(sorted elements: [Element]) {
        entries = elements.map { Entry(name: Name($0.name), value: $0.value) }
    }

    private static func sorted(_ elements: some Sequence<(String, Value)>) -> [Entry] {
        elements.map { Entry(name: Name($0.0), value: $0.1) }.sorted { $0.name < $1.name }
    }

    /// The names, in the order of their bytes.
    package var names: [String] { entries.map(\.name.text) }

    /// The value of a field, or `nil` if there is no such field; setting `nil` removes the field.
    ///
    /// - Complexity: O(log n) to read, O(n) to add or remove.
    public subscript(_ name: String) -> Value? {
        get {
            let (index, found) = position(of: name)
            return found ? entries[index].value : nil
        }
        set {
            let (index, found) = position(of: name)
            switch (newValue, found) {
            case (let value?, true): entries[index].value = value
            case (let value?, false): entries.insert(Entry(name: Name(name), value: value), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// A name that equals another name as a Swift string: they differ as UTF-8, but are canonically equivalent.
    ///
    /// - Complexity: O(n); if all names are ASCII, nothing is stored or normalized.
    var nameTakenForAnother: String? {
        guard entries.contains(where: { $0.name.text.utf8.contains { $0 >= 0x80 } }) else { return nil }
        var seen: Set<String> = []
        return entries.first { !seen.insert($0.name.text).inserted }?.name.text
    }

    private func position(of name: String) -> (index: Int, found: Bool) {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let order = entries[middle].name.text.compareUTF8(name)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    package func compare(_ other: Record) -> Int {
        for (left, right) in zip(entries, other.entries) {
            let names = left.name.text.compareUTF8(right.name.text)
            if names != 0 { return names }
            let values = left.value.compare(right.value)
            if values != 0 { return values }
        }
        return entries.count - other.entries.count
    }

}

extension Record: RandomAccessCollection {
    /// The first field's position.
    public var startIndex: Int { 0 }

    /// The position after the last field.
    public var endIndex: Int { entries.count }

    /// The field at a position, in the order of the names.
    public subscript(position: Int) -> (name: String, value: Value) {
        (entries[position].name.text, entries[position].value)
    }
}

extension Record: ExpressibleByDictionaryLiteral {
    /// Makes a record from a literal.
    ///
    /// - Precondition: No name occurs twice.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init(literal: elements)
    }
}
