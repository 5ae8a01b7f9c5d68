import SharedSpace
import TupleCoding

/// What a client tells a hook before it uses a tool: which files the tool would change.
package struct ToolUseEvent {
    package let files: [String]
    /// The folder of the agent; `nil` if it isn't told.
    package let folder: String?

    /// Reads an event.
    ///
    /// - Throws: `TupleCodingError` if it is no JSON.
    package init(_ bytes: [UInt8]) throws {
        let event = try Value(foreignJSON: bytes).members ?? Record()
        folder = event["cwd"]?.text
        let tool = event["tool_name"]?.text ?? ""
        guard !Self.onlyLooks(tool), let input = event["tool_input"]?.members ?? event["input"]?.members else {
            files = []
            return
        }
        var files: [String] = []
        for name in ["file_path", "notebook_path", "path", "absolute_path", "target_file"] {
            if let file = input[name]?.text, !file.isEmpty { files.append(file) }
        }
        for edit in input["edits"]?.list ?? [] {
            if let file = edit.members?["file_path"]?.text, !file.isEmpty { files.append(file) }
        }
        for name in ["patch", "input", "command"] {
            if let text = input[name]?.text { files += Self.files(inPatch: text) }
        }
        self.files = files
    }

    private static func onlyLooks(_ tool: String) -> Bool {
        let name = tool.lowercased()
        return ["read", "view", "ls", "list", "glob", "grep", "search", "notebookread"].contains { name.hasPrefix($0) }
    }

    /// The files of a patch in the form of `apply_patch`.
    private static func files(inPatch text: String) -> [String] {
        guard text.contains("*** Begin Patch") else { return [] }
        let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "]
        return text.split(whereSeparator: \.isNewline).flatMap { line in
            marks.compactMap { mark in String(line).dropping(prefix: mark) }
        }
    }
}
