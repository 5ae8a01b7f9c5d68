import Glibc
import SpaceSystem
import SystemPackage
import TupleCoding

/// What a client's settings need, so that it starts the server, and asks the hook.
package enum ClientSettings: String, CaseIterable, Sendable {
    case claude, codex, cursor, gemini, vscode, zed
    case preCommit = "pre-commit"

    /// A place in a file of the repository.
    enum Entry {
        /// A member of an object.
        case member([String], value: String)
        /// An element of an array, known by a mark in it, with the command that it must have.
        case element([String], value: String, mark: String, command: String)
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

    /// A file, the folder that it must be in, and what it needs.
    struct Place {
        let path: String
        let within: String
        let entry: Entry
    }

    /// The files in a repository and what they need; `root` is the agents' root, if the clients' processes must be told.
    func places(in repository: Repository, root: String?) -> [Place] {
        func inWorktree(_ file: String, _ entry: Entry) -> Place {
            Place(path: "\(repository.worktree)/\(file)", within: repository.worktree, entry: entry)
        }
        let words = ["mcp"] + (root.map { ["--root", $0] } ?? [])
        let arguments = "[" + words.map { Value.string($0).json }.joined(separator: ", ") + "]"
        let server = #"{ "command": "space", "args": \#(arguments) }"#
        let option = root.map { " --root '" + $0.replacing("'", with: "'\\''") + "'" } ?? ""
        switch self {
        case .claude:
            let command = Value.string("space mcp hook\(option)").json
            let hook = #"{ "type": "command", "command": \#(command) }"#
            return [
                inWorktree(".mcp.json", .member(["mcpServers", "space"], value: server)),
                inWorktree(
                    ".claude/settings.json",
                    .element(
                        ["hooks", "PreToolUse"],
                        value: #"{ "matcher": "Edit|MultiEdit|Write|NotebookEdit", "hooks": [\#(hook)] }"#,
                        mark: "space mcp hook",
                        command: command
                    )
                ),
            ]
        case .codex:
            return [
                inWorktree(
                    ".codex/config.toml",
                    .lines("[mcp_servers.space]\ncommand = \"space\"\nargs = \(arguments)\n")
                )
            ]
        case .cursor: return [inWorktree(".cursor/mcp.json", .member(["mcpServers", "space"], value: server))]
        case .gemini: return [inWorktree(".gemini/settings.json", .member(["mcpServers", "space"], value: server))]
        case .vscode:
            let server = #"{ "type": "stdio", "command": "space", "args": \#(arguments) }"#
            return [inWorktree(".vscode/mcp.json", .member(["servers", "space"], value: server))]
        case .zed:
            let server = #"{ "source": "custom", "command": "space", "args": \#(arguments), "env": {} }"#
            return [inWorktree(".zed/settings.json", .member(["context_servers", "space"], value: server))]
        case .preCommit:
            let folder = Self.hooks(of: repository)
            let isInWorktree = ResolvedPath.relative(folder, to: repository.worktree) != nil
            return [
                Place(
                    path: "\(folder)/pre-commit",
                    within: isInWorktree ? repository.worktree : repository.common,
                    entry: .script(Self.script + "\(option)\n")
                )
            ]
        }
    }

    /// The folder from which git runs the hooks: `core.hooksPath` may name any.
    private static func hooks(of repository: Repository) -> String {
        guard repository.isGit else { return "\(repository.worktree)/.git/hooks" }
        let answer = GitAnswer.line(of: ["rev-parse", "--git-path", "hooks"], in: repository.worktree)
        return answer.flatMap { ResolvedPath.of($0, from: repository.worktree) } ?? "\(repository.common)/hooks"
    }

    /// The script without the end of its last line.
    private static let script = """
        #!/bin/sh
        # space mcp guard: no commit of files that another agent holds
        command -v space >/dev/null || exit 0
        \(guardLine)
        """

    private static let guardLine = "git diff --cached --name-only --no-renames -z | space mcp guard -z"

    // MARK: Showing

    /// What to add by hand: each file, with its path from the worktree's folder if the file is in that folder, and its
    /// content if it has no other content.
    package func shown(in repository: Repository, root: String?) -> [(file: String, text: String)] {
        places(in: repository, root: root).map { place in
            let file = ResolvedPath.relative(place.path, to: repository.worktree) ?? place.path
            var edit = JSONEdit()
            switch place.entry {
            case .lines(let text), .script(let text): return (file, text)
            case .member(let path, let value): try? edit.set(path, to: value)
            case .element(let path, let value, let mark, _): try? edit.add(value, to: path, unlessOneHas: mark)
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
    /// - Parameters:
    ///   - repository: The repository.
    ///   - root: The root of the agents' namespaces, if the clients' processes must be told.
    ///   - removing: Whether to take them out.
    ///   - told: Called with what became of each file, or with why it can't be changed.
    /// - Throws: What `told` throws.
    package func apply(
        to repository: Repository,
        root: String?,
        removing: Bool,
        _ told: (_ file: String, Result<Change, AgentError>) throws -> Void
    ) throws {
        for place in places(in: repository, root: root) {
            let path = place.path
            if self == .preCommit, !repository.isGit {
                let reason = "\(repository.worktree) is in no git repository, so it has no pre-commit hook"
                try told(path, .failure(AgentError(reason)))
                continue
            }
            let result: Result<Change, AgentError>
            do {
                result = .success(try apply(place.entry, to: path, within: place.within, removing: removing))
            } catch let error as AgentError {
                let advice =
                    self == .preCommit
                    ? "add a line to it by hand: \(Self.guardLine)"
                    : "add or remove by hand what 'space mcp install' shows"
                result = .failure(AgentError("cannot change \(path): \(error); \(advice)"))
            } catch {
                result = .failure(AgentError("cannot change \(path): \(error)"))
            }
            try told(path, result)
        }
    }

    private static let largestFile = 4 << 20

    private func apply(_ entry: Entry, to path: String, within folder: String, removing: Bool) throws -> Change {
        // A link that leads out of the repository was not made for this.
        guard let target = ResolvedPath.of(path, from: "/"), let root = ResolvedPath.of(folder, from: "/"),
            ResolvedPath.relative(target, to: root) != nil
        else {
            if removing { return .unchanged }
            throw AgentError("it leads out of \(folder), through a symbolic link or core.hooksPath")
        }
        if let info = try? Directory.info(at: AT_FDCWD, target), info.kind != .regular {
            throw AgentError("it is no regular file")
        }
        let old = try Self.contents(of: target)
        if old == nil, removing { return .unchanged }
        let before = old ?? []
        guard let new = try Self.changed(before, isThere: old != nil, entry, removing: removing) else {
            // A link would lead nowhere.
            guard ResolvedPath.linkText(path) == nil else { return .unchanged }
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
        // If a file can't be changed, nothing was ever added to it, so nothing need be taken out.
        if removing, !text.contains("space") { return before }
        switch entry {
        case .member(let path, let value):
            var edit = try JSONEdit(before)
            let (old, new) = (edit.json(at: path), try? Value(foreignJSON: Array(value.utf8)))
            // One of ours may name another root.
            let isOurs = old.map(Self.withoutRoot) == new.map(Self.withoutRoot)
            if removing { return isOurs ? edit.removeAndPrune(path) : before }
            guard old == nil || isOurs else { throw differs }
            if old != new { try edit.set(path, to: value) }
            return edit.text
        case .element(let path, let value, let mark, let command):
            var edit = try JSONEdit(before)
            if removing { return edit.removeAndPrune(from: path, having: mark) }
            // One of ours may name another root, or none.
            edit.replaceTexts(in: path, by: command) { $0.dropping(prefix: mark).map(isOurs) ?? false }
            if edit.hasElement(in: path, having: mark), !edit.hasElement(in: path, having: command) { throw differs }
            try edit.add(value, to: path, unlessOneHas: mark)
            return edit.text
        case .lines(let lines):
            let parts = Self.parts(of: text, around: lines)
            if let parts {
                if !removing { return Array((parts.before + lines + parts.after).utf8) }
                // The empty line before ours is ours too.
                let front = parts.before.hasSuffix("\n\n") ? String(parts.before.dropLast()) : parts.before
                let rest = front + parts.after
                return rest.allSatisfy(\.isWhitespace) ? nil : Array(rest.utf8)
            }
            if removing { return before }
            guard !TOMLText.defines(["mcp_servers", "space"], in: text) else { throw differs }
            let separator = text.isEmpty ? "" : text.hasSuffix("\n") ? "\n" : "\n\n"
            return Array((text + separator + lines).utf8)
        case .script(let new):
            let rest = text.dropping(prefix: script)
            if isThere, rest?.last != "\n" || rest.map({ isOurs($0.dropLast()) }) != true {
                if removing { return before }
                throw AgentError("there is another script")
            }
            return removing ? nil : Array(new.utf8)
        }
    }

    /// Whether what follows a command is nothing, or the root that was written for it, in one word of the shell.
    private static func isOurs(_ rest: some StringProtocol) -> Bool {
        let word = String(rest).replacing("'\\''", with: "")
        return word.isEmpty || word.hasPrefix(" --root '") && word.hasSuffix("'") && word.count { $0 == "'" } == 2
    }

    private static var differs: AgentError { AgentError("it has an entry for space already, which differs") }

    /// A server's entry without the root that it may name.
    private static func withoutRoot(_ value: Value) -> Value {
        guard var members = value.members, let words = members["args"]?.list, words.count == 3,
            words.first?.text == "mcp", words[1].text == "--root"
        else { return value }
        members["args"] = .array(["mcp"])
        return .object(members)
    }

    /// What is around our lines in a text, whatever root they name.
    private static func parts(of text: String, around lines: String) -> (before: String, after: String)? {
        let start = lines.prefix { $0 != "]" } + "]\ncommand = \"space\"\nargs = [\"mcp\""
        let parts = text.split(separator: start, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let line = parts[1].prefix { $0 != "\n" }
        guard line == "]" || line.hasPrefix(", \"--root\", ") && line.hasSuffix("]") else { return nil }
        return (String(parts[0]), String(parts[1].dropFirst(line.count + 1)))
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
