extension ChangeFilter: ExpressibleByStringInterpolation {
    /// The changes of the cell with a key, or with a path (`"user.name"`) of a part of its value.
    public init(stringLiteral key: String) { self.init(cells: .key(key)) }

    /// All changes.
    public static var everything: ChangeFilter {
        ChangeFilter(tuples: .any, cells: .all, notifications: .all, collections: .all, responders: .all, objects: .all)
    }

    /// The changes of a cell, or with a path (`"user.name"`) of a part of its value.
    public static func cell(_ key: String) -> ChangeFilter { ChangeFilter(cells: .key(key)) }

    /// The changes of all cells, or of some: `.cells(.prefix("config/"))`, `.cells(.matching("*.port"))`.
    public static func cells(_ which: Cells = .all) -> ChangeFilter { ChangeFilter(cells: which) }

    /// The changes of the tuples that match.
    public static func tuples(_ template: Template) -> ChangeFilter { ChangeFilter(tuples: template) }

    /// The notifications with a name: all of them, or those that an object of this process posts.
    ///
    /// The object is not retained.
    public static func notification(_ name: String, from sender: (any AnyObject & Sendable)? = nil) -> ChangeFilter {
        ChangeFilter(notifications: sender.map { .sent(by: PostSender($0), named: name) } ?? .named(name))
    }

    /// All notifications, or some: `.notifications(.matching("build.*"))`.
    public static func notifications(_ which: Notifications = .all) -> ChangeFilter {
        ChangeFilter(notifications: which)
    }

    /// Who holds the lock, the permits or the leadership with a name, or what the counter or latch with it says; `nil` for
    /// all names.
    ///
    /// ``Change/key`` is the name. A change of the kind ``ChangeKind/hold`` has in ``Change/new`` an object with the
    /// `kind` (`"lock"`, `"semaphore"`, `"election"`), the `fencing` number and the `pid` of the new holder, and
    /// `shared`, `permits` or the candidate's `value` (unless it is nested as deep as values may be);
    /// ``ChangeKind/release`` has the object in ``Change/old``, even if the holder's process has ended.
    /// ``ChangeKind/proclaim`` has an object in each. ``ChangeKind/count`` has the numbers before and after, or `nil`
    /// if there was or is none.
    ///
    /// A ``ChangeKind/deadlock`` has no key, and in ``Change/new`` an object with the `text` and the `circle`, a list
    /// of objects, each with the `pid` of a process, the `type` and `name` of what the process waits for, and the
    /// process that it `waits_for`. With a name, it is delivered only if the filter names its kind and the object is in
    /// the circle.
    public static func object(_ name: String? = nil) -> ChangeFilter {
        ChangeFilter(objects: name.map { .named($0) } ?? .all)
    }
}

extension Value {
    /// The part that a path of names leads to, if there is one.
    func part(_ names: [String]) -> Value? {
        var value = self
        for name in names {
            guard let inner = value.members?[name] else { return nil }
            value = inner
        }
        return value
    }
}
