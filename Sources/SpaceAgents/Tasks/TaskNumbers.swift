import SharedSpace

/// The tasks that can be prerequisites of others, by their numbers and keys, as one transaction sees them.
///
/// Each kind of row is read at most once, because other processes wait while a transaction runs.
struct TaskNumbers {
    private var open: Set<Int> = []
    private var openKeys: [String: Int] = [:]
    /// The keys of the tasks that are done; `nil` until one is looked for.
    private var doneKeys: [String: Int]?
    /// The number of the last task.
    private var last: Int

    init(in t: borrowing Transaction) throws(SpaceError) {
        last = try t.get("tasks", as: Int.self) ?? 0
        for row in try t.readAll(matching: ["open", .any, .any]) {
            guard let id = row[1].number, let key = row[2].text else { continue }
            open.insert(id)
            if !key.isEmpty { openKeys[key] = min(id, openKeys[key] ?? id) }
        }
    }

    func isOpen(_ id: Int) -> Bool { open.contains(id) }

    /// Notes a task that the transaction adds.
    mutating func add(_ id: Int, key: String) {
        open.insert(id)
        if !key.isEmpty { openKeys[key] = id }
        last = max(last, id)
    }

    /// The task of a key; `nil` if there is none.
    mutating func id(ofKey key: String, in t: borrowing Transaction) throws(SpaceError) -> Int? {
        if let id = openKeys[key] { return id }
        if doneKeys == nil {
            var known: [String: Int] = [:]
            for row in try t.readAll(matching: ["done", .any, .any, .any, .any, .any]) {
                guard let id = row[1].number, let key = row[2].text, known[key] == nil else { continue }
                known[key] = id
            }
            doneKeys = known
        }
        return doneKeys?[key]
    }

    /// The task that a reference names.
    ///
    /// - Throws: `AgentError` if there never was one.
    mutating func id(_ reference: NewTask.Reference, in t: borrowing Transaction) throws -> Int {
        switch reference {
        case .id(let id):
            guard id >= 1, id <= last else { throw AgentError("after: there is no task \(id)") }
            return id
        case .key(let key):
            guard let id = try id(ofKey: key, in: t) else {
                throw AgentError(
                    "after: no task has the key \"\(key)\"; add the task that comes first before, or earlier in the same call"
                )
            }
            return id
        }
    }
}
