extension JSONObject {
    /// Adds a change to an ordered set.
    ///
    /// One element has `index` and `new`, `old` or both. Several have `elements`, with the `index` of the first or with
    /// all `indices`.
    package mutating func add(_ edit: CollectionEdit<TupleCoding.Value>) {
        switch edit {
        case .insert(let elements, let index):
            add("index", index)
            if elements.count == 1 { add("new", elements[0]) } else { add("elements", elements) }
        case .remove(let elements, let indices):
            if elements.count == 1, indices.count == 1 {
                add("index", indices[0])
                add("old", elements[0])
            } else {
                add(["indices": indices, "elements": elements])
            }
        case .replace(let old, let new, let index):
            add(["index": index, "old": old, "new": new])
        case .move(let elements, let indices, let target):
            add(["indices": indices, "to": target, "elements": elements])
        case .exchange(let left, let right, let first, let second):
            add(["indices": [first, second], "elements": [left, right]])
        case .sort(let order):
            add("order", order)
        }
    }
}
