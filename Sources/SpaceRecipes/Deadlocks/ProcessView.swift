/// What the search for deadlocks has to know of processes.
package struct ProcessView {
    let parent: (Int32) -> Int32?
    let children: (Int32) -> [Int32]
    let command: (Int32) -> String?
    let waitsForChild: (Int32) -> Bool
    let limitsCommand: (Int32) -> Bool

    /// Makes a view.
    ///
    /// - Parameters:
    ///   - parent: The parent of a process.
    ///   - children: The children of a process.
    ///   - command: The name of the command that a process runs, if the process only waits for its end.
    ///   - waitsForChild: Whether all that a process does now is to wait for the end of a child.
    ///   - limitsCommand: Whether a process that runs a command ends it when a time has passed.
    package init(
        parent: @escaping (Int32) -> Int32?,
        children: @escaping (Int32) -> [Int32],
        command: @escaping (Int32) -> String?,
        waitsForChild: @escaping (Int32) -> Bool,
        limitsCommand: @escaping (Int32) -> Bool = { _ in false }
    ) {
        self.parent = parent
        self.children = children
        self.command = command
        self.waitsForChild = waitsForChild
        self.limitsCommand = limitsCommand
    }

    /// If a chain of parents changes while it is read, it could form a circle.
    static let mostGenerations = 256

    /// The parent of a process, the parent's parent, and so on, without PID 1.
    func ancestors(of pid: Int32) -> [Int32] {
        var ancestors: [Int32] = []
        var next = parent(pid)
        while let process = next, process > 1, ancestors.count < Self.mostGenerations {
            ancestors.append(process)
            next = parent(process)
        }
        return ancestors
    }
}
