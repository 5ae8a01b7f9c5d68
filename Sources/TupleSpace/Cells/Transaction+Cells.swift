extension Transaction: CellStore {
    /// How the verbs of cells reach them.
    public var cellAccess: CellAccess { CellAccess(place: .transaction(state)) }
}
