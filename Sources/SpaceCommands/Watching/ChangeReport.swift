import SharedSpace

/// A change in the form that `watch` prints.
enum ChangeReport {
    /// The change as one JSON object.
    ///
    /// A field without a value is left out, so that `null` is always a value.
    static func line(_ change: Change, of path: String? = nil) -> String { object(change, of: path).line }

    /// The change; of a cell only the part that a path names, if one does.
    static func object(_ change: Change, of path: String? = nil, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        // The number of a gap is that of its last missed change; the next change has a higher one. The end is not counted:
        // a number would be that of another change.
        if change.kind != .gone { object.add("seq", change.lastSequence) }
        object.add("time", change.time)
        // A gap comes from no process, and the end from none in particular.
        if change.pid != 0 { object.add("pid", change.pid) }
        if let machine = change.machine { object.add("machine", machine) }
        let part = path.flatMap { change.part($0) }
        object.add("event", "\(part.map { $0.new == nil ? .unset : .set } ?? change.kind)")
        if change.isPresent { object.add("present", true) }
        if change.kind == .gap {
            object.add("from", change.sequence)
            object.add("to", change.lastSequence)
        }
        if let id = change.id { object.add("id", id.rawValue) }
        if let tuple = change.tuple { object.add("tuple", json: tuple.json) }
        if change.kind == .deadlock, let new = change.new { object.add("new", json: new.json) }
        if let key = change.key {
            let isPost = change.kind == .post
            let isNamed = isPost || change.kind == .respond || change.kind.isOfObject
            object.add(isNamed ? "name" : "key", key)
            // A path names the cell `a.b`, or the part `b` of the cell `a`: behind the cell's key and a dot.
            if part != nil, let path {
                object.add("part", String(decoding: path.utf8.dropFirst(key.utf8.count + 1), as: UTF8.self))
            }
            if let edit = change.edit { object.add(edit) }
            let (old, new) = part ?? (change.old, change.new)
            if let old { object.add("old", json: old.json) }
            if let new { object.add(isPost ? "value" : "new", json: new.json) }
            if let sender = change.senderID { object.add("sender", sender) }
        }
        return object
    }

    /// A deadlock, for people: when it was told, and the circle.
    static func text(ofDeadlock change: Change) -> String {
        let text: String =
            if case .object(let told)? = change.new, case .string(let text)? = told["text"] { text } else { "" }
        return PeopleText.escaped("\(PeopleText.moment(change.time))  deadlock: \(text)")
    }

    /// The first line: the number of the last change that is not told, and the life of the namespace that counts it.
    static func ready(_ point: ResumePoint? = nil) -> String {
        var object = JSONObject()
        object.add("event", "ready")
        if let point {
            object.add("seq", point.sequence)
            object.add("life", "\(point.life)")
        }
        return object.line
    }

    /// A namespace that came or went.
    ///
    /// It has no number: only the changes within a namespace have numbers.
    static func line(_ change: SpaceChange) -> String {
        var object = JSONObject()
        switch change {
        case .appeared(let name):
            object.add("event", "appeared")
            object.add("name", name)
        case .disappeared(let name):
            object.add("event", "disappeared")
            object.add("name", name)
        }
        return object.line
    }

    /// The edit alone, for people.
    static func text(_ edit: CollectionEdit<Value>) -> String {
        var object = JSONObject()
        object.add(edit)
        return object.line
    }
}
