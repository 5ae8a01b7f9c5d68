import SharedSpace

/// What a client tells a hook before it uses a tool: which files the tool would change.
package struct ToolUseEvent {
    package let files: [String]
    /// The folder of the agent, an absolute path; `nil` if the event does not name it.
    package let folder: String?

    /// Reads an event.
    ///
    /// - Throws: `TupleCodingError` if it is no JSON; `AgentError` if the event does not show which files the tool
    ///   would change.
    package init(_ bytes: [UInt8]) throws {
        guard let event = try Value(foreignJSON: bytes).members else { throw AgentError("it is no JSON object") }
        folder = event["cwd"]?.text.flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
        let tool = Self.plain(event["tool_name"]?.text ?? "")
        guard !Self.looking.contains(tool) else {
            files = []
            return
        }
        var files: [String] = []
        if let input = event["tool_input"]?.members ?? event["input"]?.members {
            for name in Self.members { files += try Self.file(in: input[name], name) }
            for edit in input["edits"]?.list ?? [] {
                for name in Self.members { files += try Self.file(in: edit.members?[name], name) }
            }
            for name in ["patch", "input", "command"] {
                // A command may be a list of its words, of which one is the patch.
                for text in [input[name]?.text] + (input[name]?.list ?? []).map(\.text) {
                    files += text.map { Self.files(inPatch: $0) } ?? []
                }
            }
        }
        // A shell's command and the like name no file, and pass.
        if files.isEmpty, tool.isEmpty || Self.editing.contains(tool) {
            throw AgentError(tool.isEmpty ? "it has neither a tool_name nor a file" : "it names no file")
        }
        self.files = files
    }

    /// The members of an input that name a file.
    private static let members = [
        "file_path", "filePath", "notebook_path", "notebookPath", "path", "absolute_path", "absolutePath",
        "target_file",
    ]

    private static func file(in value: Value?, _ name: String) throws(AgentError) -> [String] {
        switch value {
        case nil, .null?: return []
        case .string(let file)?: return file.isEmpty ? [] : [file]
        default: throw AgentError("\"\(name)\" is no string")
        }
    }

    // MARK: Tools

    /// The name of a tool without the server's in `mcp__SERVER__TOOL`, in lower case and without `_` and `-`.
    private static func plain(_ tool: String) -> String {
        var name = Array(tool.utf8)
        if name.starts(with: "mcp__".utf8),
            let end = name.indices.dropLast().last(where: { name[$0] == underscore && name[$0 + 1] == underscore })
        {
            name.removeSubrange(...(end + 1))
        }
        return String(decoding: name.filter { $0 != underscore && $0 != UInt8(ascii: "-") }, as: UTF8.self).lowercased()
    }

    private static let underscore = UInt8(ascii: "_")

    /// The tools that change no file.
    ///
    /// They are whole names: `search_replace` and `list_edit` begin like them.
    private static let looking: Set<String> = [
        "read", "readfile", "readfiles", "readmanyfiles", "readmultiplefiles", "readtextfile", "readmediafile",
        "readnotebook", "notebookread", "readmcpresourcetool", "view", "viewfile", "viewimage", "ls", "list", "listdir",
        "listdirectory", "listdirectorywithsizes", "listfiles", "listmcpresourcestool", "directorytree", "getfileinfo",
        "glob", "globfilesearch", "findfiles", "findpath", "filesearch", "grep", "grepsearch", "search", "searchfiles",
        "searchfilecontent", "codebasesearch",
    ]

    /// The tools that change a file, so that an event of theirs names one.
    private static let editing: Set<String> = [
        "edit", "multiedit", "write", "notebookedit", "applypatch", "editfile", "writefile", "createfile", "replace",
        "searchreplace", "strreplace",
    ]

    /// The files of a patch in the form of `apply_patch`.
    private static func files(inPatch text: String) -> [String] {
        guard text.contains("*** Begin Patch") else { return [] }
        let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "]
        return text.split(whereSeparator: \.isNewline).flatMap { line in
            marks.compactMap { mark in String(line).dropping(prefix: mark) }
        }
    }
}
