/// The waits of processes for the end of the commands that they run, if a process of the command waits itself.
///
/// A command is a tree of processes: a shell, say, and what it has started. It is known to be held up only if each
/// process of the tree waits: for an object, or for the end of a child that waits. If another process of the tree runs,
/// sleeps or reads, it may be the one that the command waits for: `sh -c 'space lock jobs b -- true & sleep 8'` ends
/// after eight seconds whatever becomes of the lock. The same holds for a process that ends its own command after a
/// time (`--ttr`). For such a wait `mayGoOn` is true.
///
/// A responder's command ends with the request that it answers, and a request usually has a time-out, which ends the
/// wait.
struct CommandWaits {
    private let processes: ProcessView
    private let waiting: Set<Int32>
    private let busy: Set<Int32>
    private let limits: [Int32: Int64]

    init(_ processes: ProcessView, waiting: Set<Int32>, busy: Set<Int32>, _ limits: [Int32: Int64]) {
        self.processes = processes
        self.waiting = waiting
        self.busy = busy
        self.limits = limits
    }

    /// The waits, in the order of the PIDs.
    var all: [WaitGraph.Wait] {
        var commands: [Int32: (name: String, waiting: [Int32])] = [:]
        var names: [Int32: String?] = [:]
        for pid in waiting.sorted() {
            for process in processes.ancestors(of: pid) where busy.contains(process) {
                let name = names[process] ?? processes.command(process)
                names[process] = .some(name)
                if let name { commands[process, default: (name, [])].waiting.append(pid) }
            }
        }
        return commands.sorted { $0.key < $1.key }.map { (process, command) in
            var wait = WaitGraph.Wait(
                pid: process,
                subject: .command(name: Name(command.name)),
                blockers: command.waiting,
                needsAll: false,
                since: nil
            )
            wait.mayGoOn = !isHeldUp(process)
            wait.ends = limits[process]
            return wait
        }
    }

    /// Whether a process that runs a command does nothing but wait, as does each process of the command.
    private func isHeldUp(_ runner: Int32) -> Bool {
        var front = processes.children(runner)
        for _ in 0..<ProcessView.mostGenerations {
            var next: [Int32] = []
            for process in front where !waiting.contains(process) {
                if processes.limitsCommand(process) { return false }
                let children = processes.children(process)
                guard !children.isEmpty, processes.waitsForChild(process) || processes.command(process) != nil else {
                    return false
                }
                next += children
            }
            if next.isEmpty { return true }
            front = next
        }
        return false
    }
}
