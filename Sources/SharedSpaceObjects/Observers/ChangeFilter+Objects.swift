extension ChangeFilter {
    /// The changes of the ordered set, or of the dictionary, with a name.
    public static func collection(_ name: String) -> ChangeFilter { ChangeFilter(collections: .named(name)) }

    /// The coming, going and replacing of the responders to a name; `nil` for all names.
    ///
    /// ``Change/key`` is the name, ``Change/new`` the key of the responder that has come, and ``Change/old`` that of the
    /// one that has gone or was replaced.
    public static func responders(to name: String? = nil) -> ChangeFilter {
        ChangeFilter(responders: name.map { .named($0) } ?? .all)
    }
}
