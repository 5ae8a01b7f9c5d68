import Glibc
import SpaceSystem
import SystemPackage
import TupleCoding

/// A worktree of a git repository, or a folder that is in none.
package struct Repository: Hashable, Sendable {
    /// What all worktrees share: the answer of `git rev-parse --git-common-dir`, as an absolute path without links.
    package let common: String
    /// The folder of the worktree, or the folder that is in no repository.
    package let worktree: String
    /// The worktree's own folder in the repository, with its HEAD; `nil` outside of repositories.
    private let gitFolder: String?

    /// The repository of a folder, or the folder by itself.
    package init(of folder: String) {
        let folder = ResolvedPath.of(folder, from: "/") ?? folder
        self = Repository.enclosing(folder).first ?? Repository(common: folder, worktree: folder, gitFolder: nil)
    }

    private init(common: String, worktree: String, gitFolder: String?) {
        (self.common, self.worktree, self.gitFolder) = (common, worktree, gitFolder)
    }

    package var isGit: Bool { gitFolder != nil }

    /// The repositories that a path without links is in, the innermost first: a submodule is one in another.
    static func enclosing(_ path: String) -> [Repository] { around(path).filter(\.isGit) }

    /// The repositories and the plain folders that a path without links is in, the innermost first.
    static func around(_ path: String) -> [Repository] {
        var found: [Repository] = []
        var folder = path
        while true {
            if let place = at(folder) { found.append(place) }
            let parent = ResolvedPath.parent(of: folder)
            guard parent.utf8.count < folder.utf8.count else { return found }
            folder = parent
        }
    }

    /// The worktree whose folder this is, or the plain folder; `nil` if it is no folder.
    static func at(_ path: String) -> Repository? {
        guard isFolder(path) else { return nil }
        return Repository(at: path) ?? Repository(common: path, worktree: path, gitFolder: nil)
    }

    /// The worktree whose folder this is; `nil` if there is no `.git` in it.
    ///
    /// gitrepository-layout(5): in a worktree that was added, and in a submodule, `.git` is a file that names the folder,
    /// and a file `commondir` there names what is shared.
    private init?(at folder: String) {
        let entry = folder == "/" ? "/.git" : "\(folder)/.git"
        // The folder has no links, so only the entry itself is looked at.
        let place = ResolvedPath.linkText(entry).flatMap { ResolvedPath.of($0, from: folder) } ?? entry
        var own = place
        if !Self.isFolder(place) {
            guard let named = Self.line(of: place, after: "gitdir: "), let path = ResolvedPath.of(named, from: folder),
                Self.isFolder(path)
            else { return nil }
            own = path
        }
        var common = own
        if let named = Self.line(of: "\(own)/commondir"), let path = ResolvedPath.of(named, from: own) { common = path }
        self.init(common: common, worktree: folder, gitFolder: own)
    }

    /// The name of the branch, or the beginning of the commit's; `nil` if it can't be read.
    package var branch: String? {
        guard let gitFolder, let head = Self.line(of: "\(gitFolder)/HEAD") else { return nil }
        return head.dropping(prefix: "ref: refs/heads/") ?? String(head.prefix(12))
    }

    /// The name of the namespace in which the repository's agents meet.
    ///
    /// It begins with the folder's name for people; the hash decides.
    package var namespace: String {
        let parts = ResolvedPath.names(in: common)
        let folder = parts.last == ".git" ? parts.dropLast().last : parts.last
        let shown = (folder ?? "root").unicodeScalars.prefix(40).map { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "-_".unicodeScalars.contains(scalar))
                ? Character(scalar) : "-"
        }
        let hash = Array(common.utf8).withUnsafeBytes { Hash64.hash($0) }
        let digits = String(hash, radix: 16)
        return "agents-\(String(shown))-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }

    /// The folders of all worktrees that are there, this one first: gitrepository-layout(5) has each that was added in a folder
    /// of `worktrees`, whose file `gitdir` names its `.git`.
    var worktrees: [String] {
        guard isGit else { return [worktree] }
        var added: [String] = []
        if let folder = try? OwnedDescriptor.directory(FilePath("\(common)/worktrees")) {
            added = (try? Directory.list(folder.raw)) ?? []
        }
        let entries = added.sorted().compactMap { name in
            let folder = "\(common)/worktrees/\(name)"
            return Self.line(of: "\(folder)/gitdir").flatMap { ResolvedPath.of($0, from: folder) }
        }
        let others = ([common] + entries).map { ResolvedPath.parent(of: $0) }.filter { folder in
            folder != worktree && Repository(at: folder)?.common == common
        }
        return [worktree] + others
    }

    /// The path of a file from the worktree's folder; `nil` if the file, whose path has no links, is not in it.
    func path(of file: String) -> String? { ResolvedPath.relative(file, to: worktree) }

    private static func isFolder(_ path: String) -> Bool {
        guard let info = try? Directory.info(at: AT_FDCWD, path) else { return false }
        return info.kind == .directory
    }

    /// The first line of a small file, without what it must begin with; `nil` if there is no such file.
    private static func line(of path: String, after start: String = "") -> String? {
        guard let bytes = try? FileBytes.read(at: AT_FDCWD, path, limit: 8192) else { return nil }
        let line = String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard let rest = line.dropping(prefix: start), !rest.isEmpty else { return nil }
        return rest
    }
}
