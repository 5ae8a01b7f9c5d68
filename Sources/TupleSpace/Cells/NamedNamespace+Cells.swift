extension NamedNamespace: CellStore {
    /// How the verbs of cells reach them.
    public var _cells: _CellAccess { _CellAccess(place: .named(self)) }
}
