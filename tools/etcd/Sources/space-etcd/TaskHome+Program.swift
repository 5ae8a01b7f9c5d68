import SpaceSystem

extension TaskHome {
    /// Where all tasks of this program run.
    static let program = TaskHome()
}
