/// A choice of the changes that a watcher or an observer receives.
///
/// A string in the code is the filter for a cell, or with a path for a part of its value:
///
/// ```swift
/// self.token = try jobs.observe("progress") { change in … }                   // a key, or a path
/// self.token = try jobs.observe(.tuples(["resize", .any])) { change in … }
/// ```
///
/// A watcher always receives gaps and the namespace's end.
public struct ChangeFilter: Sendable {
    package var tuples: Template?
    package var cells: Cells
    package var notifications: Notifications
    package var collections: Names
    package var responders: Names
    package var objects: Names
    package var kinds: Set<ChangeKind>?

    /// A choice of ordered sets and dictionaries, of the names that responders answer to, or of what is held and counted.
    ///
    /// The entries of a dictionary are cells, so `all` does not include them: choose all cells too.
    public enum Names: Sendable {
        /// None.
        case none
        /// All.
        case all
        /// The one with a name, or the responders to a name.
        case named(String)
    }

    /// A choice of cells.
    public enum Cells: Sendable {
        /// None.
        case none
        /// All.
        case all
        /// One cell, or with a path a part of its value: `"user.name"` is the part `name` of the cell `user`. A
        /// watcher of a part receives a change only when that part changes.
        case key(String)
        /// The cells whose keys begin with a text.
        case prefix(String)
        /// The cells whose keys lie in a range, in the order of their UTF-8.
        case range(ClosedRange<String>)
        /// The cells whose keys match a pattern: `*` stands for any text, `?` for one character, and `\` makes the next
        /// character stand for itself.
        case matching(String)
    }

    /// A choice of notifications.
    public enum Notifications: Sendable {
        /// None.
        case none
        /// All.
        case all
        /// The notifications with a name.
        case named(String)
        /// The notifications whose names match a pattern: `*` stands for any text, `?` for one character, and `\`
        /// makes the next character stand for itself.
        case matching(String)
        /// The notifications that a process, or an object of this process, posts; all of them, or those with a name.
        case sent(by: PostSender, named: String? = nil)
    }

    /// Makes a filter.
    ///
    /// - Parameters:
    ///   - tuples: The template of the tuples whose changes are wanted; `nil` for no tuples.
    ///   - cells: The cells.
    ///   - notifications: The notifications.
    ///   - collections: The ordered sets and dictionaries.
    ///   - responders: The names to whose responders something happens: they come, go and are replaced.
    ///   - objects: What is held and counted by name: locks, semaphores, elections, counters and latches.
    ///   - kinds: The kinds of change; `nil` for all kinds.
    public init(
        tuples: Template? = nil,
        cells: Cells = .none,
        notifications: Notifications = .none,
        collections: Names = .none,
        responders: Names = .none,
        objects: Names = .none,
        kinds: Set<ChangeKind>? = nil
    ) {
        self.tuples = tuples
        self.cells = cells
        self.notifications = notifications
        self.collections = collections
        self.responders = responders
        self.objects = objects
        self.kinds = kinds
    }

    /// The filter as text, for status displays.
    package var text: String {
        var parts: [String] = []
        if let tuples { parts.append(tuples.json) }
        switch cells {
        case .none: break
        case .all: parts.append("all keys")
        case .key(let key): parts.append("key \(key)")
        case .prefix(let prefix): parts.append("keys from \(prefix)")
        case .range(let range): parts.append("keys \(range.lowerBound) to \(range.upperBound)")
        case .matching(let pattern): parts.append("keys like \(pattern)")
        }
        switch notifications {
        case .none: break
        case .all: parts.append("all posts")
        case .named(let name): parts.append("post \(name)")
        case .matching(let pattern): parts.append("posts like \(pattern)")
        case .sent(let sender, let name):
            parts.append((name.map { "post \($0)" } ?? "all posts") + " of process \(sender.pid)")
        }
        switch collections {
        case .none: break
        case .all: parts.append("all collections")
        case .named(let name): parts.append("collection \(name)")
        }
        switch responders {
        case .none: break
        case .all: parts.append("all responders")
        case .named(let name): parts.append("responders to \(name)")
        }
        switch objects {
        case .none: break
        case .all: parts.append("all that is held and counted")
        case .named(let name): parts.append("object \(name)")
        }
        if let kinds { parts.append(kinds.map { "\($0)" }.sorted().joined(separator: ",")) }
        return parts.joined(separator: ", ")
    }
}
