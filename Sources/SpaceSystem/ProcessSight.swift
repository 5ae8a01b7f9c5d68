import Glibc

/// The processes as they are while one question is answered: each fact is read from `/proc` once, when it is asked for.
package final class ProcessSight {
    private var statuses: [Int32: ProcFS.Status?] = [:]
    private var childrenOf: [Int32: [Int32]]?

    package init() {}

    private func status(of pid: Int32) -> ProcFS.Status? {
        if let known = statuses[pid] { return known }
        let status = ProcFS.status(of: pid)
        statuses.updateValue(status, forKey: pid)
        return status
    }

    /// The PID of a process's parent; `nil` if there is none in this PID namespace, or if it is unknown.
    package func parent(of pid: Int32) -> Int32? { status(of: pid).flatMap { $0.parent > 0 ? $0.parent : nil } }

    /// The children of a process, in the order of their PIDs; zombies are among them.
    package func children(of pid: Int32) -> [Int32] {
        if let childrenOf { return childrenOf[pid] ?? [] }
        var children: [Int32: [Int32]] = [:]
        // Not every kernel lists the children of a process, so all processes are asked for their parent.
        for child in Self.names.compactMap({ Int32($0) }).sorted() {
            if let parent = parent(of: child) { children[parent, default: []].append(child) }
        }
        childrenOf = children
        return children[pid] ?? []
    }

    /// The names in `/proc`; none if it can't be read.
    private static var names: [String] {
        guard let folder = try? OwnedDescriptor.open("/proc", flags: O_RDONLY | O_DIRECTORY) else { return [] }
        return (try? Directory.list(folder.raw)) ?? []
    }

    /// Whether all that a process does now is to wait for the end of a child.
    ///
    /// The guardian of a command does so all its life. For another process the kernel shows in which kernel function
    /// the process sleeps (proc(5), `wchan`): wait(2), and nothing else, sleeps in `do_wait`. A kernel that doesn't
    /// tell makes the answer no.
    package func waitsForChild(_ pid: Int32) -> Bool {
        if status(of: pid)?.command == Guardian.commandName { return true }
        guard let bytes = try? ProcFS.contents("/proc/\(pid)/wchan", limit: 256) else { return false }
        return bytes.starts(with: "do_wait".utf8)
    }
}
