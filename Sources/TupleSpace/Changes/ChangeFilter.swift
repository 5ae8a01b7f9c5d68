import Glibc
import TupleCoding

/// Which changes a watcher is told of.
///
/// A gap, and the namespace's end, it is always told.
public struct ChangeFilter: Sendable {
    /// What happens to tuples that match; `nil`: to none.
    public var tuples: Template?
    /// Which cells.
    public var cells: Cells
    /// Which notifications.
    public var notifications: Notifications
    /// Which ordered sets and dictionaries.
    public var collections: Collections
    /// Which kinds; `nil`: all.
    public var kinds: Set<Change.Kind>?

    /// A choice of ordered sets and dictionaries.
    ///
    /// The entries of a dictionary are cells, so `all` does not tell of them: choose all cells too.
    public enum Collections: Sendable, Hashable {
        /// None.
        case none
        /// All.
        case all
        /// The one of a name.
        case named(String)
    }

    /// A choice of cells.
    public enum Cells: Sendable, Hashable {
        /// None.
        case none
        /// All.
        case all
        /// One, or with a path a part of its value: `"user.name"` is the part `name` of the cell `user`. A watcher of a part
        /// is told only when that part changes.
        case key(String)
    }

    /// A choice of notifications.
    public enum Notifications: Sendable, Hashable {
        /// None.
        case none
        /// All.
        case all
        /// Those of a name.
        case named(String)
        /// Those that a process, or an object of this one, posts; with a name, or all.
        case sent(by: PostSender, named: String? = nil)
    }

    /// Everything.
    public static let everything = ChangeFilter(tuples: .any, cells: .all, notifications: .all, collections: .all)

    /// Makes a filter.
    public init(
        tuples: Template? = nil,
        cells: Cells = .none,
        notifications: Notifications = .none,
        collections: Collections = .none,
        kinds: Set<Change.Kind>? = nil
    ) {
        self.tuples = tuples
        self.cells = cells
        self.notifications = notifications
        self.collections = collections
        self.kinds = kinds
    }

    /// The filter as text, for those who look on.
    package var text: String {
        var parts: [String] = []
        if let tuples { parts.append(tuples.json) }
        switch cells {
        case .none: break
        case .all: parts.append("all keys")
        case .key(let key): parts.append("key \(key)")
        }
        switch notifications {
        case .none: break
        case .all: parts.append("all posts")
        case .named(let name): parts.append("post \(name)")
        case .sent(let sender, let name):
            parts.append((name.map { "post \($0)" } ?? "all posts") + " of process \(sender.pid)")
        }
        switch collections {
        case .none: break
        case .all: parts.append("all collections")
        case .named(let name): parts.append("collection \(name)")
        }
        if let kinds { parts.append(kinds.map(\.description).sorted().joined(separator: ",")) }
        return parts.joined(separator: ", ")
    }
}
