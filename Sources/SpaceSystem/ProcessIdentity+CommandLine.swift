import Glibc

extension ProcessIdentity {
    /// What a process runs, as people know it: the words of its command line.
    ///
    /// For a program that runs another one after `--`, the text has the other program's words, with the program's own
    /// name and first word in brackets.
    ///
    /// - Parameters:
    ///   - pid: The process.
    ///   - runner: The name of the program whose words after `--` are those of another.
    /// - Returns: The text, cut after 4,096 bytes, or `nil` if it can't be read; the words are the process's own, and
    ///   may be anything.
    package static func commandLine(of pid: Int32, showing runner: String) -> String? {
        guard let words = commandWords(of: pid) else { return nil }
        guard let command = command(in: words, of: pid, runner: runner) else {
            return text([programName(words)] + words.dropFirst())
        }
        let kind = words.dropFirst().prefix(while: { !isMark($0) }).first.map { " \(text([$0]))" } ?? ""
        return "\(text(command)) (\(runner)\(kind))"
    }

    /// The name of the command that a process of the program `runner` runs after `--`, and for whose end it waits.
    ///
    /// - Returns: The name without its folder, cut after 255 bytes as a file's name; `nil` if it runs none.
    package static func command(runBy pid: Int32, runner: String) -> String? {
        commandWords(of: pid).flatMap { command(in: $0, of: pid, runner: runner) }
            .map { String(decoding: programName($0).prefix(Int(NAME_MAX)), as: UTF8.self) }
    }

    /// The words before `--` of a process that is the program `runner` and runs a command after it.
    package static func wordsBeforeCommand(of pid: Int32, runner: String) -> [String]? {
        guard let line = commandWords(of: pid), command(in: line, of: pid, runner: runner) != nil else { return nil }
        return line.dropFirst().prefix { !isMark($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The words after a program's name, if a process is a program of this name.
    package static func words(of pid: Int32, program name: String) -> [String]? {
        guard let line = commandWords(of: pid), programName(line).elementsEqual(name.utf8) else { return nil }
        return line.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    private typealias Word = ArraySlice<UInt8>

    /// The most bytes of a command line that are read: as many as all words of a command may have together under the
    /// usual limit of the stack (execve(2)).
    private static let mostBytes = 2 << 20
    /// How many bytes are read first; few command lines are longer.
    private static let firstBytes = 4096

    /// The words of a process's command line; `nil` if they can't be read, or if there are none.
    private static func commandWords(of pid: Int32) -> [Word]? {
        guard let file = try? OwnedDescriptor.open("/proc/\(pid)/cmdline", flags: O_RDONLY),
            var bytes = try? FileBytes.readPrefix(file.raw, count: firstBytes)
        else { return nil }
        if bytes.count == firstBytes {
            guard let rest = try? FileBytes.read(file.raw, at: firstBytes, count: mostBytes - firstBytes) else {
                return nil
            }
            bytes += rest
        }
        guard !bytes.isEmpty else { return nil }
        var words = bytes.split(separator: 0, omittingEmptySubsequences: false)
        if words.last?.isEmpty ?? false { words.removeLast() }
        return words.isEmpty ? nil : words
    }

    /// The words after `--`, if the program is `runner`, even if it was called by a link of another name.
    private static func command(in words: [Word], of pid: Int32, runner: String) -> ArraySlice<Word>? {
        guard let mark = words.firstIndex(where: isMark), mark + 1 < words.count,
            programName(words).elementsEqual(runner.utf8) || fileName(of: pid)?.utf8.elementsEqual(runner.utf8) ?? false
        else { return nil }
        return words[(mark + 1)...]
    }

    private static func isMark(_ word: Word) -> Bool { word.elementsEqual("--".utf8) }

    /// The first word without its folder.
    private static func programName(_ words: some Collection<Word>) -> Word {
        let word = words.first ?? []
        return word.split(separator: UInt8(ascii: "/")).last ?? word
    }

    /// The name of the file that a process executes; `nil` if it can't be read.
    private static func fileName(of pid: Int32) -> String? {
        guard let folder = try? OwnedDescriptor.open("/proc/\(pid)", flags: O_RDONLY | O_DIRECTORY),
            let path = try? Directory.linkText(at: folder.raw, "exe", limit: Int(PATH_MAX))
        else { return nil }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        // proc(5): a file that was replaced since, for example by an update.
        return name.hasSuffix(" (deleted)") ? String(name.dropLast(" (deleted)".count)) : name
    }

    /// The first words, as many as a person may read.
    private static func text(_ words: some Sequence<Word>) -> String {
        var bytes: [UInt8] = []
        for word in words where bytes.count < firstBytes {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
            bytes += word.prefix(firstBytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
