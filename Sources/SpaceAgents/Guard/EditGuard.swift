import SharedSpace
import SpaceSystem
import TupleCoding

/// Refuses edits of files that another agent holds.
///
/// A file is looked for by where it is, not by where the agent is: in the namespace of each repository that encloses it, so
/// also in another worktree than the agent's, or another repository. The agent is the nearest ancestor of this process that
/// is one.
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
    /// - Throws: What hinders the look at a namespace.
    package func refusal(of files: [String], from folder: String) throws -> Refusal? {
        var holds: [Repository: (rows: [HoldRow], directory: AgentDirectory)?] = [:]
        for file in files {
            guard let path = ResolvedPath.of(file, from: folder) else { continue }
            // A file in no repository may be held by its path in that of the agent.
            let places = Repository.enclosing(path) + [Repository(of: folder)]
            for place in places {
                let key = Repository(of: place.worktree)
                if holds[key] == nil { holds[key] = .some(try look(in: place)) }
                guard case let (rows, directory)?? = holds[key] else { continue }
                let own = agent(among: rows, directory)
                let name = HoldName(ofFile: place.path(of: path) ?? path)
                for row in rows where row.who.process != own && row.name.overlaps(name) && row.who.isAlive {
                    return Refusal(
                        file: file,
                        name: row.name.text,
                        holder: directory.name(of: row.who),
                        pid: row.who.process.pid,
                        since: row.since,
                        why: row.why
                    )
                }
            }
        }
        return nil
    }

    private func look(in place: Repository) throws -> (rows: [HoldRow], directory: AgentDirectory)? {
        try AgentSpace(root: root, repository: place).look { namespace in
            (try namespace.rows(HoldRow.all, as: HoldRow.self), try AgentDirectory(of: namespace))
        }
    }

    private func agent(among rows: [HoldRow], _ directory: AgentDirectory) -> ProcessIdentity? {
        let known = Set(directory.all.map(\.process) + rows.map(\.who.process))
        return ancestors.first(where: known.contains)
    }
}
