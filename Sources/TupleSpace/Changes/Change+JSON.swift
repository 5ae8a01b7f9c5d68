extension Change {
    /// The change as one JSON object; of a cell only the part that a path names, if one does.
    ///
    /// A field without a value is left out, so that `null` is always a value.
    package func object(of path: String? = nil) -> JSONObject {
        var object: JSONObject = [:]
        // The number of a gap is that of its last missed change; the next change has a higher one. The end is not counted:
        // a number would be that of another change.
        if kind != .gone { object.add("seq", lastSequence) }
        object.add("time", time)
        // A gap comes from no process, and the end from none in particular.
        if pid != 0 { object.add("pid", pid) }
        object.add("machine", machine.orLeftOut)
        let part = path.flatMap { self.part($0) }
        object.add("event", "\(part.map { $0.new == nil ? .unset : .set } ?? kind)")
        object.add("present", isPresent.orLeftOut)
        if kind == .gap {
            object.add("from", sequence)
            object.add("to", lastSequence)
        }
        object.add("id", (id?.rawValue).orLeftOut)
        object.add("tuple", tuple.orLeftOut)
        if kind == .deadlock, let new = new { object.add("new", new) }
        if let key = key {
            let isPost = kind == .post
            let isNamed = isPost || kind == .respond || kind.isOfObject
            object.add(isNamed ? "name" : "key", key)
            // A path names the cell `a.b`, or the part `b` of the cell `a`: behind the cell's key and a dot.
            if part != nil, let path {
                object.add("part", String(decoding: path.utf8.dropFirst(key.utf8.count + 1), as: UTF8.self))
            }
            if let edit = edit { object.add(edit) }
            let (old, new) = part ?? (old, new)
            object.add("old", old.orLeftOut)
            object.add(isPost ? "value" : "new", new.orLeftOut)
            object.add("sender", senderID.orLeftOut)
        }
        return object
    }
}
