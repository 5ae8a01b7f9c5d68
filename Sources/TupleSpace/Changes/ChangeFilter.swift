import TupleCoding

/// A choice of the changes that a watcher receives.
///
/// A watcher always receives gaps and the namespace's end.
public struct ChangeFilter: Sendable {
    /// The template of the tuples whose changes are wanted; `nil` for no tuples.
    public var tuples: Template?
    /// The cells.
    public var cells: Cells
    /// The notifications.
    public var notifications: Notifications
    /// The ordered sets and dictionaries.
    public var collections: Names
    /// The names to whose responders something happens: they come, go and are replaced.
    public var responders: Names
    /// What is held and counted by name: locks, semaphores, elections, counters and latches.
    public var objects: Names
    /// The kinds of change; `nil` for all kinds.
    public var kinds: Set<Change.Kind>?

    /// A choice of ordered sets and dictionaries, of the names that responders answer to, or of what is held and counted.
    ///
    /// The entries of a dictionary are cells, so `all` does not include them: choose all cells too.
    public enum Names: Sendable, Hashable {
        /// None.
        case none
        /// All.
        case all
        /// The one with a name, or the responders to a name.
        case named(String)
    }

    /// A choice of cells.
    public enum Cells: Sendable, Hashable {
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
    public enum Notifications: Sendable, Hashable {
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
    public init(
        tuples: Template? = nil,
        cells: Cells = .none,
        notifications: Notifications = .none,
        collections: Names = .none,
        responders: Names = .none,
        objects: Names = .none,
        kinds: Set<Change.Kind>? = nil
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
        if let kinds { parts.append(kinds.map(\.description).sorted().joined(separator: ",")) }
        return parts.joined(separator: ", ")
    }
}
