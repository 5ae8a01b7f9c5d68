package import TupleCoding

extension JSONObject {
    /// Adds a change to an ordered set.
    ///
    /// One element has `index` and `new`, `old` or both. Several have `elements`, with the `index` of the first or with
    /// all `indices`.
    package mutating func add(_ edit: CollectionEdit<Value>) {
        switch edit {
        case .insert(let elements, let index):
            add("index", index)
            if elements.count == 1 { add("new", json: elements[0].json) } else { add(elements: elements) }
        case .remove(let elements, let indices):
            if elements.count == 1, indices.count == 1 {
                add("index", indices[0])
                add("old", json: elements[0].json)
            } else {
                add(indices: indices)
                add(elements: elements)
            }
        case .replace(let old, let new, let index):
            add("index", index)
            add("old", json: old.json)
            add("new", json: new.json)
        case .move(let elements, let indices, let target):
            add(indices: indices)
            add("to", target)
            add(elements: elements)
        case .exchange(let left, let right, let first, let second):
            add(indices: [first, second])
            add(elements: [left, right])
        case .sort(let order):
            add("order", json: Value.array(order.map { .int($0) }).json)
        }
    }

    private mutating func add(indices: [Int]) { add("indices", json: Value.array(indices.map { .int($0) }).json) }

    private mutating func add(elements: [Value]) { add("elements", json: Value.array(elements).json) }
}
