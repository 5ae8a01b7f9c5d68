extension NamedNamespace: CellStore {
    /// How the verbs of cells reach them.
    public var cellAccess: CellAccess { CellAccess(place: .named(self)) }
}
