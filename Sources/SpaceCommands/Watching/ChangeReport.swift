import SharedSpace

/// A change in the form that `watch` prints.
enum ChangeReport {
    /// The change as one JSON object.
    static func line(_ change: Change, of path: String? = nil) -> String { change.object(of: path).line }

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
