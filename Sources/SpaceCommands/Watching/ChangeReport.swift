import SharedSpace

/// A change in the form that `watch` prints.
enum ChangeReport {
    /// The change as one JSON object.
    static func line(_ change: Change, of path: String? = nil) -> String { change.object(of: path).json }

    /// A deadlock as text for people: when it was reported, and the circle.
    static func text(ofDeadlock change: Change) -> String {
        let text: String =
            if case .object(let told)? = change.new, case .string(let text)? = told["text"] { text } else { "" }
        return PeopleText.escaped("\(PeopleText.moment(change.time))  deadlock: \(text)")
    }

    /// The first line: the number of the last change that is not delivered, and the life of the namespace that counts
    /// it.
    static func ready(_ point: ResumePoint? = nil) -> String {
        let object: JSONObject = [
            "event": "ready", "seq": (point?.sequence).orLeftOut, "life": (point?.life.description).orLeftOut,
        ]
        return object.json
    }

    /// A namespace that came or went.
    ///
    /// It has no number: only the changes within a namespace have numbers.
    static func line(_ change: SpaceChange) -> String {
        let object: JSONObject =
            switch change {
            case .appeared(let name): ["event": "appeared", "name": name]
            case .disappeared(let name): ["event": "disappeared", "name": name]
            }
        return object.json
    }

    /// The edit alone, for people.
    static func text(_ edit: CollectionEdit<Value>) -> String {
        var object: JSONObject = [:]
        object.add(edit)
        return object.json
    }
}
