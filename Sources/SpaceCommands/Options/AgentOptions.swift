import CommandWords
import Glibc
import SharedSpace
import SpaceAgents

/// The options of the commands for coding agents.
struct AgentOptions: ParsableArguments {
    @Option(
        help: """
            <dir> The root folder of the agents' namespaces (default: $XDG_STATE_HOME/shared-space, else \
            ~/.local/state/shared-space).
            """,
        completion: .directory
    )
    var root: String?

    @Option(help: "<dir> A folder of the repository (default: the working directory).", completion: .directory)
    var dir: String?

    @Flag(help: "No word on standard error for what the exit status says.")
    var quiet = false

    func validate() throws { if quiet { Messages.isQuiet = true } }

    /// The folder that the options name.
    ///
    /// - Throws: `CommandFailure` (usage) if the working directory was removed, or `--dir` names no folder.
    func folder() throws -> String {
        guard let here = getcwd(nil, 0) else {
            throw CommandFailure.usage("the working directory is gone; name a folder with --dir")
        }
        defer { free(here) }
        let folder = String(cString: here)
        guard let dir else { return folder }
        let path = dir.hasPrefix("/") ? dir : "\(folder)/\(dir)"
        var info = stat()
        guard !dir.isEmpty, stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure.usage("--dir: \(dir.quotedForPeople) is no folder")
        }
        return path
    }

    /// The root folder of the agents' namespaces.
    func rootPath() throws -> String {
        guard let root else {
            do { return try AgentRoot.path() } catch { throw CommandFailure.usage("\(error)") }
        }
        return Space(trusting: root, timeout: .seconds(5)).root
    }

    /// The namespace of the repository.
    func space() throws -> AgentSpace {
        AgentSpace(root: try rootPath(), repository: Repository(of: try folder()))
    }
}
