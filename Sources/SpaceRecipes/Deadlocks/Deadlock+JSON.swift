import TupleCoding

extension Deadlock {
    /// The circle as JSON: a list of its steps.
    package var json: String {
        let objects = steps.indices.map { index in
            var object = JSONObject()
            object.add("pid", steps[index].pid)
            object.add("type", steps[index].subject.type)
            object.add("name", steps[index].subject.name.text)
            if let namespace = steps[index].namespace { object.add("namespace", namespace.text) }
            object.add("waits_for", blocker(of: index))
            if steps[index].isBehind { object.add("behind", true) }
            return object.line
        }
        return "[\(objects.joined(separator: ","))]"
    }

    /// A circle that may end by itself as JSON: its steps, and when it ends, if that is known.
    package var doubtfulJSON: String {
        var object = JSONObject()
        object.add("circle", json: json)
        let end: Int64? = if case .ends(let end)? = doubt { end } else { nil }
        object.add("ends", end)
        return object.line
    }
}
