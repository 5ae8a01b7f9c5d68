import Glibc
import SpaceSystem
import SystemPackage

/// What a client's settings need, so that it starts the server, and asks the hook.
package enum ClientSettings: String, CaseIterable, Sendable {
    case claude, codex, cursor, gemini, vscode, zed
    case preCommit = "pre-commit"

    /// A place in a file of the repository.
    enum Entry {
        /// A member of an object.
        case member([String], value: String)
        /// An element of an array, known by a mark in it.
        case element([String], value: String, mark: String)
        /// Lines at the end of a text.
        case lines(String)
        /// A whole script.
        case script(String)
    }

    /// The folder of a client's settings in the repository; `nil` if the client is always meant.
    private var folder: String? {
        switch self {
        case .claude: nil
        case .codex: ".codex"
        case .cursor: ".cursor"
        case .gemini: ".gemini"
        case .vscode: ".vscode"
        case .zed: ".zed"
        case .preCommit: "/"
        }
    }

    /// The files and what they need; paths are from the worktree's folder.
    var entries: [(file: String, entry: Entry)] {
        let server = #"{ "command": "space", "args": ["mcp"] }"#
        switch self {
        case .claude:
            let hook = #"{ "type": "command", "command": "space mcp hook" }"#
            return [
                (".mcp.json", .member(["mcpServers", "space"], value: server)),
                (
                    ".claude/settings.json",
                    .element(
                        ["hooks", "PreToolUse"],
                        value: #"{ "matcher": "Edit|MultiEdit|Write|NotebookEdit", "hooks": [\#(hook)] }"#,
                        mark: "space mcp hook"
                    )
                ),
            ]
        case .codex:
            return [(".codex/config.toml", .lines("[mcp_servers.space]\ncommand = \"space\"\nargs = [\"mcp\"]\n"))]
        case .cursor: return [(".cursor/mcp.json", .member(["mcpServers", "space"], value: server))]
        case .gemini: return [(".gemini/settings.json", .member(["mcpServers", "space"], value: server))]
        case .vscode:
            let server = #"{ "type": "stdio", "command": "space", "args": ["mcp"] }"#
            return [(".vscode/mcp.json", .member(["servers", "space"], value: server))]
        case .zed:
            let server = #"{ "source": "custom", "command": "space", "args": ["mcp"], "env": {} }"#
            return [(".zed/settings.json", .member(["context_servers", "space"], value: server))]
        case .preCommit:
            let script = """
                #!/bin/sh
                # space mcp guard: no commit of files that another agent holds
                command -v space >/dev/null || exit 0
                git diff --cached --name-only --no-renames -z | space mcp guard -z

                """
            return [("hooks/pre-commit", .script(script))]
        }
    }

    // MARK: Showing

    /// What to add by hand: each file, and its content if it has no other.
    package var shown: [(file: String, text: String)] {
        entries.map { file, entry in
            var edit = JSONEdit()
            switch entry {
            case .lines(let text): return (file, text)
            case .script(let text): return (".git/\(file)", text)
            case .member(let path, let value): try? edit.set(path, to: value)
            case .element(let path, let value, let mark): try? edit.add(value, to: path, unlessOneHas: mark)
            }
            return (file, String(decoding: edit.text, as: UTF8.self))
        }
    }

    // MARK: Writing

    /// Whether the client is in use in a worktree.
    package func isUsed(in repository: Repository) -> Bool {
        guard let folder else { return true }
        return (try? Directory.info(at: AT_FDCWD, "\(repository.worktree)/\(folder)"))?.kind == .directory
            && folder != "/"
    }

    /// What became of a file.
    package enum Change: String {
        case written, removed
        case unchanged = "left as it is"
    }

    /// Adds the entries to the files of a repository, or takes them out.
    ///
    /// - Returns: What became of each file.
    /// - Throws: `AgentError` for a file that can't be changed; those before it are changed then.
    package func apply(
        to repository: Repository,
        removing: Bool,
        _ told: (_ file: String, Change) throws -> Void
    ) throws {
        for (file, entry) in entries {
            let folder = self == .preCommit ? repository.common : repository.worktree
            if self == .preCommit, !repository.isGit {
                throw AgentError("\(repository.worktree) is in no git repository, so it has no pre-commit hook")
            }
            let path = "\(folder)/\(file)"
            do {
                let change = try apply(entry, to: path, within: folder, removing: removing)
                try told(path, change)
            } catch let error as AgentError {
                throw AgentError(
                    "cannot change \(path): \(error); add or remove by hand what 'space mcp install' shows"
                )
            } catch let error as Errno {
                throw AgentError("cannot change \(path): \(error)")
            }
        }
    }

    private static let largestFile = 4 << 20

    private func apply(_ entry: Entry, to path: String, within folder: String, removing: Bool) throws -> Change {
        // A link that leads out of the repository was not made for this.
        guard let target = ResolvedPath.of(path, from: "/"), let root = ResolvedPath.of(folder, from: "/"),
            ResolvedPath.relative(target, to: root) != nil
        else { throw AgentError("it leads out of \(folder) through a symbolic link") }
        let old = try Self.contents(of: target)
        if old == nil, removing { return .unchanged }
        let before = old ?? []
        guard let new = try Self.changed(before, isThere: old != nil, entry, removing: removing) else {
            guard unlink(target) == 0 else { throw Errno(rawValue: errno) }
            return .removed
        }
        if let old, old == new { return .unchanged }
        try Self.replace(target, by: new, isProgram: self == .preCommit)
        return removing ? .removed : .written
    }

    /// A file's content with an entry in it, or without; `nil` if nothing is left of it.
    private static func changed(
        _ before: [UInt8],
        isThere: Bool,
        _ entry: Entry,
        removing: Bool
    ) throws(AgentError) -> [UInt8]? {
        let text = String(decoding: before, as: UTF8.self)
        // Of a file that can't be changed, nothing need be taken out that was never added.
        if removing, !text.contains("space") { return before }
        switch entry {
        case .member(let path, let value):
            var edit = try JSONEdit(before)
            if removing { _ = edit.remove(path) } else { try edit.set(path, to: value) }
            return edit.text
        case .element(let path, let value, let mark):
            var edit = try JSONEdit(before)
            if removing {
                _ = edit.remove(from: path, having: mark)
            } else {
                try edit.add(value, to: path, unlessOneHas: mark)
            }
            return edit.text
        case .lines(let lines):
            let parts = text.split(separator: lines, maxSplits: 1, omittingEmptySubsequences: false)
            if removing { return Array(parts.joined().utf8) }
            if parts.count > 1 { return before }
            if text.contains(lines.prefix { $0 != "\n" }) {
                throw AgentError("it has such an entry already, which differs")
            }
            let separator = text.isEmpty ? "" : text.hasSuffix("\n") ? "\n" : "\n\n"
            return Array((text + separator + lines).utf8)
        case .script(let script):
            let isOurs = before == Array(script.utf8)
            if isThere, !isOurs {
                if removing { return before }
                throw AgentError("there is another script; call 'space mcp guard' in it")
            }
            return removing ? nil : Array(script.utf8)
        }
    }

    /// Writes a file beside it, and puts that in its place: a reader sees the one or the other.
    private static func replace(_ path: String, by bytes: [UInt8], isProgram: Bool) throws(Errno) {
        let parent = "/" + ResolvedPath.names(in: path).dropLast().joined(separator: "/")
        if mkdir(parent, 0o777) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
        let mode = (try? Directory.info(at: AT_FDCWD, path))?.mode
        let temporary = "\(path).space-\(getpid())"
        do throws(Errno) {
            try writeNew(temporary, bytes, mode: mode, isProgram: isProgram)
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let error = Errno(rawValue: errno)
            unlink(temporary)
            throw error
        }
    }

    private static func writeNew(
        _ path: String,
        _ bytes: [UInt8],
        mode: UInt32?,
        isProgram: Bool
    ) throws(Errno) {
        let file = try OwnedDescriptor.open(
            path,
            flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
            mode: isProgram ? 0o777 : 0o666
        )
        if let mode { try Directory.setMode(file.raw, mode) }
        try FileBytes.write(bytes, to: file.raw)
    }

    /// The bytes of a file; `nil` if there is none.
    private static func contents(of path: String) throws(Errno) -> [UInt8]? {
        do throws(Errno) {
            return try FileBytes.read(at: AT_FDCWD, path, limit: largestFile)
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }
}
