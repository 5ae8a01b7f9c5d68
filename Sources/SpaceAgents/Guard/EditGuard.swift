import Glibc
import SpaceSystem

/// Refuses edits of files that another agent holds.
///
/// The guard looks for holds in the namespace of each repository and each plain folder that encloses the file. That may
/// be another worktree or another repository than the one in which the agent works. The agent is the nearest ancestor
/// of this process that is listed as an agent.
package struct EditGuard {
    private let root: String
    private let ancestors: [ProcessIdentity]

    /// A file and the hold that another agent has on it.
    package struct Refusal {
        package let file: String
        package let name: String
        package let holder: String
        package let pid: Int32
        package let since: Int64
        package let why: String
    }

    /// Makes a guard for the agent that this process is a descendant of.
    ///
    /// - Parameter root: The root folder of the agents' namespaces.
    package init(root: String) {
        self.root = root
        ancestors = AgentProcess.ancestors()
    }

    /// The first of some files that another agent holds.
    ///
    /// - Parameters:
    ///   - files: Their paths, absolute or from `folder`.
    ///   - folder: The folder of the agent.
    /// - Returns: The file and its holder; `nil` if no other agent holds one.
    /// - Throws: `AgentError` for text that can't be a file's path, and the errors of the look at a namespace.
    package func refusal(of files: [String], from folder: String) throws -> Refusal? {
        let home = Repository(of: folder)
        var places = Places()
        var known: [[UInt8]: Others?] = [:]
        for file in files {
            guard file.utf8.count < Int(PATH_MAX), !file.utf8.contains(0) else {
                throw AgentError("a path of \(file.utf8.count) bytes, or with a NUL in it, is no file's")
            }
            guard let path = ResolvedPath.of(file, from: folder) else { continue }
            let absolute = HoldName(ofFile: path)
            // A file outside of all repositories may be held by its path in the agent's repository.
            for place in places.around(path) + [home] {
                let key = Array(place.common.utf8)
                if known[key] == nil { known[key] = .some(try others(in: place)) }
                guard case let others?? = known[key] else { continue }
                let name = place.path(of: path).map { HoldName(ofFile: $0) } ?? absolute
                for row in others.holds where row.name.overlaps(name) || row.name.overlaps(absolute) {
                    guard row.who.isAlive else { continue }
                    return Refusal(
                        file: file,
                        name: row.name.text,
                        holder: others.directory.name(of: row.who),
                        pid: row.who.process.pid,
                        since: row.since,
                        why: row.why
                    )
                }
            }
        }
        return nil
    }

    /// What the other agents of a repository hold.
    private struct Others {
        let holds: [HoldRow]
        let directory: AgentDirectory
    }

    private func others(in place: Repository) throws -> Others? {
        try AgentSpace(root: root, repository: place).look { namespace in
            let rows = try namespace.rows(HoldRow.all, as: HoldRow.self)
            let directory = try AgentDirectory(of: namespace)
            let known = Set(directory.all.map(\.process) + rows.map(\.who.process))
            let own = ancestors.first(where: known.contains)
            return Others(holds: rows.filter { $0.who.process != own }, directory: directory)
        }
    }

    /// What encloses files; the answer is kept per folder, because a commit has many files of one.
    private struct Places {
        private var known: [[UInt8]: [Repository]] = [:]

        /// The repositories and plain folders that a path without links is in.
        mutating func around(_ path: String) -> [Repository] {
            let parent = ResolvedPath.parent(of: path)
            let key = Array(parent.utf8)
            let outer = known[key] ?? Repository.around(parent)
            known[key] = outer
            // A folder may be a repository itself.
            return path == parent ? outer : (Repository.at(path).map { [$0] } ?? []) + outer
        }
    }
}
