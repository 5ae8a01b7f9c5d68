extension ProcessIdentity {
    /// What a process runs, as people know it: the words of its command line.
    ///
    /// For a program that runs another after `--` it is that other's words, with the program's name and first word in
    /// brackets.
    ///
    /// - Parameters:
    ///   - pid: The process.
    ///   - runner: The name of the program whose words after `--` are those of another.
    /// - Returns: The text, or `nil` if it can't be read; the words are the process's own, and may be anything.
    package static func commandLine(of pid: Int32, showing runner: String) -> String? {
        guard let words = commandWords(of: pid) else { return nil }
        guard let command = command(in: words, of: runner) else { return words.joined(separator: " ") }
        let kind = words.dropFirst().prefix(while: { $0 != "--" }).first.map { " \($0)" } ?? ""
        return "\(command.joined(separator: " ")) (\(runner)\(kind))"
    }

    /// Whether a process is the program `runner` and runs a command after `--`, for whose end it waits.
    package static func runsCommand(_ pid: Int32, runner: String) -> Bool {
        commandWords(of: pid).flatMap { command(in: $0, of: runner) } != nil
    }

    /// The words of a process's command line, the first without its folder; `nil` if they can't be read.
    private static func commandWords(of pid: Int32) -> [String]? {
        guard let bytes = try? ProcFS.contents("/proc/\(pid)/cmdline", limit: 4096), !bytes.isEmpty else { return nil }
        var words = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        if words.last == "" { words.removeLast() }
        guard let path = words.first else { return nil }
        words[0] = path.split(separator: "/").last.map(String.init) ?? path
        return words
    }

    /// The words after `--`, if the program is `runner`.
    private static func command(in words: [String], of runner: String) -> ArraySlice<String>? {
        guard words.first == runner, let mark = words.firstIndex(of: "--"), mark + 1 < words.count else { return nil }
        return words[(mark + 1)...]
    }
}
