import SpaceSystem

extension TaskHome {
    /// Where all tasks of the daemon run.
    static let daemon = TaskHome()
}
