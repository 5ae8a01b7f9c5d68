extension Deadlock: JSONConvertible {
    /// The circle as JSON: a list of its steps.
    package var json: String { steps.indices.map(object(ofStep:)).json }

    private func object(ofStep index: Int) -> JSONObject {
        let step = steps[index]
        return [
            "pid": step.pid, "type": step.subject.type, "name": step.subject.name.text,
            "namespace": (step.namespace?.text).orLeftOut, "waits_for": blocker(of: index),
            "behind": step.isBehind.orLeftOut,
        ]
    }

    /// A circle that may end by itself as JSON: its steps, and when it ends, if that is known.
    package var doubtfulObject: JSONObject {
        let end: Int64? = if case .ends(let end)? = doubt { end } else { nil }
        return ["circle": self, "ends": end]
    }
}
