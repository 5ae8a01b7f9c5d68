/// One edit of an ordered set, as observers receive it: enough to make the same edit to a copy.
public enum CollectionEdit<Element> {
    /// Elements were inserted next to each other, the first of them at an index.
    case insert([Element], at: Int)
    /// Elements were removed; the indices, ascending, are those before the removal.
    case remove([Element], at: [Int])
    /// An element was replaced by another.
    case replace(Element, with: Element, at: Int)
    /// Elements were moved: they were taken out at these indices, in this order, and inserted next to each other, so
    /// that the first of them is now at `to`.
    case move([Element], from: [Int], to: Int)
    /// Two elements changed places; the smaller index comes first.
    case exchange(Element, Element, at: Int, Int)
    /// The order changed: for each index of the new order, the element's index before.
    case sort([Int])

    /// A move or an exchange as the removals and insertions that it amounts to; any other edit unchanged.
    package var pairs: [CollectionEdit] {
        switch self {
        case .move(let elements, let indices, let target):
            let order = indices.indices.sorted { indices[$0] < indices[$1] }
            return [.remove(order.map { elements[$0] }, at: order.map { indices[$0] }), .insert(elements, at: target)]
        case .exchange(let left, let right, let first, let second):
            return [
                .remove([left, right], at: [first, second]), .insert([right], at: first), .insert([left], at: second),
            ]
        default:
            return [self]
        }
    }

    /// The same edit with other elements.
    package func map<Other, Failure: Error>(
        _ transform: (Element) throws(Failure) -> Other
    ) throws(Failure) -> CollectionEdit<Other> {
        switch self {
        case .insert(let elements, let index): .insert(try elements.map(transform), at: index)
        case .remove(let elements, let indices): .remove(try elements.map(transform), at: indices)
        case .replace(let old, let new, let index): .replace(try transform(old), with: try transform(new), at: index)
        case .move(let elements, let indices, let target): .move(try elements.map(transform), from: indices, to: target)
        case .exchange(let left, let right, let first, let second):
            .exchange(try transform(left), try transform(right), at: first, second)
        case .sort(let order): .sort(order)
        }
    }
}

extension CollectionEdit: Sendable where Element: Sendable {}
extension CollectionEdit: Equatable where Element: Equatable {}

extension CollectionEdit {
    /// Makes the same edit to a copy of the elements.
    ///
    /// - Returns: Whether the edit fits the copy; if it does not, the copy is unchanged.
    /// - Complexity: O(n).
    @discardableResult
    package func apply(to copy: inout [Element]) -> Bool {
        switch self {
        case .insert(let elements, let index):
            guard (0...copy.count).contains(index) else { return false }
            copy.insert(contentsOf: elements, at: index)
        case .remove(_, let indices):
            guard Self.areAscending(indices, below: copy.count) else { return false }
            copy.remove(ascending: indices)
        case .replace(_, let new, let index):
            guard copy.indices.contains(index) else { return false }
            copy[index] = new
        case .move(let elements, let indices, let target):
            let sorted = indices.sorted()
            guard Self.areAscending(sorted, below: copy.count), elements.count == indices.count,
                (0...copy.count - indices.count).contains(target)
            else { return false }
            copy.remove(ascending: sorted)
            copy.insert(contentsOf: elements, at: target)
        case .exchange(_, _, let first, let second):
            guard Self.areAscending([first, second], below: copy.count) else { return false }
            copy.swapAt(first, second)
        case .sort(let order):
            guard order.count == copy.count, Self.areAscending(order.sorted(), below: copy.count) else { return false }
            let old = copy
            for (index, place) in order.enumerated() { copy[index] = old[place] }
        }
        return true
    }

    static func areAscending(_ indices: [Int], below count: Int) -> Bool {
        var last = -1
        for index in indices {
            guard index > last else { return false }
            last = index
        }
        return last < count
    }

    /// The edit of a copy, as removals and insertions that a list view can carry out.
    ///
    /// The removal and the insertion of a moved element are associated with each other.
    ///
    /// - Parameter copy: The elements before the edit.
    /// - Returns: The difference; `nil` if the edit does not fit the copy.
    /// - Complexity: O(n).
    package func difference(from copy: [Element]) -> CollectionDifference<Element>? {
        var after = copy
        guard apply(to: &after) else { return nil }
        typealias Step = CollectionDifference<Element>.Change
        var steps: [Step] = []
        switch self {
        case .insert(let elements, let index):
            for (place, element) in elements.enumerated() {
                steps.append(.insert(offset: index + place, element: element, associatedWith: nil))
            }
        case .remove(_, let indices):
            for index in indices { steps.append(.remove(offset: index, element: copy[index], associatedWith: nil)) }
        case .replace(_, let new, let index):
            steps = [
                .remove(offset: index, element: copy[index], associatedWith: nil),
                .insert(offset: index, element: new, associatedWith: nil),
            ]
        case .move(_, let indices, let target):
            for (place, index) in indices.enumerated() {
                steps += Self.step(copy[index], from: index, to: target + place)
            }
        case .exchange(_, _, let first, let second):
            steps = Self.step(copy[first], from: first, to: second) + Self.step(copy[second], from: second, to: first)
        case .sort(let order):
            for (place, index) in order.enumerated() where place != index {
                steps += Self.step(copy[index], from: index, to: place)
            }
        }
        return CollectionDifference(steps)
    }

    private static func step(_ element: Element, from: Int, to: Int) -> [CollectionDifference<Element>.Change] {
        [
            .remove(offset: from, element: element, associatedWith: to),
            .insert(offset: to, element: element, associatedWith: from),
        ]
    }
}

extension Array {
    /// Removes the elements at ascending indices, in one pass.
    package mutating func remove(ascending indices: [Int]) {
        guard let first = indices.first else { return }
        var next = 0
        var end = first
        for index in first..<count {
            if next < indices.count, indices[next] == index {
                next += 1
            } else {
                swapAt(end, index)
                end += 1
            }
        }
        removeSubrange(end...)
    }
}
