import Glibc
package import SpaceEngine
package import SpaceSystem
import SystemPackage

/// The space of several machines that a root has joined, as the root remembers it in its file `.joined`.
///
/// Without the file, a process that makes a namespace while no daemon runs could not know that the machines may share
/// one of the same name: both would exist, and stay separate for ever. So in a root with the file, a namespace is made
/// only after the daemon has been asked (``DaemonSocket/word(of:in:)``).
///
/// The daemon writes the file once it has become a member, before it answers a process as one. It stays when the daemon
/// ends or is killed, and only `space join --leave` removes it. It is in the root and not in the folder of the daemon,
/// because the others of a group that share the root can't look into that one. That the file exists is what counts: the
/// words in it are for messages.
package struct JoinedSpace: Hashable, Sendable {
    package static let file = ".joined"
    private static let draft = ".joined.new"
    private static let subject = "the root's file \(file)"
    /// The longest text: a prefix of 255 bytes, and the name of a space whose bytes are all encoded.
    private static let mostBytes = 1024

    /// What all keys of the machines begin with.
    package let prefix: String
    /// The name of the space among them.
    package let space: NamespaceName

    package init(prefix: String, space: NamespaceName) {
        self.prefix = prefix
        self.space = space
    }

    /// The options of `space join` that name the space, each behind a blank; none for those that are the defaults.
    var options: String {
        (prefix == "shared-space" ? "" : " --prefix \(prefix.quotedForPeople)")
            + (space.text == "default" ? "" : " --space \(space.text.quotedForPeople)")
    }

    // MARK: The file

    /// Whether a root has joined.
    package static func isRemembered(in rootFolder: borrowing OwnedDescriptor) throws(SpaceError) -> Bool {
        do throws(Errno) {
            _ = try Directory.info(at: rootFolder.raw, file)
            return true
        } catch .noSuchFileOrDirectory {
            return false
        } catch {
            throw SpaceError(error, subject: subject)
        }
    }

    /// The space that a root has joined; `nil` if there is none, or the file says nothing that is understood.
    package init?(ofRoot path: String) {
        guard let folder = try? OwnedDescriptor.directory(FilePath(path)) else { return nil }
        self.init(in: folder)
    }

    private init?(in rootFolder: borrowing OwnedDescriptor) {
        guard let bytes = try? FileBytes.read(at: rootFolder.raw, Self.file, limit: Self.mostBytes),
            let text = String(validating: bytes, as: UTF8.self), text.hasSuffix("\n")
        else { return nil }
        let lines = text.dropLast().split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard lines.count == 2, let space = NamespaceName(folder: String(lines[0])) else { return nil }
        self.init(prefix: String(lines[1]), space: space)
    }

    /// Puts the file in a root, on the disk; only the daemon of the root does that.
    package func remember(inRoot path: String) throws(SpaceError) {
        let text = "\(space.encoded)\n\(prefix)\n"
        try system(Self.subject) { () throws(Errno) in
            let folder = try OwnedDescriptor.directory(FilePath(path))
            if JoinedSpace(in: folder) == self { return }
            // In a root that a group shares, another user may have put something else under the name.
            try Directory.unlink(at: folder.raw, Self.draft)
            let file = try OwnedDescriptor.openat(
                directory: folder.raw,
                Self.draft,
                flags: O_WRONLY | O_CREAT | O_EXCL,
                mode: 0o644
            )
            try FileBytes.write(Array(text.utf8), to: file.raw)
            try Directory.sync(file.raw)
            try Directory.rename(from: folder.raw, Self.draft, to: folder.raw, Self.file)
            try Directory.sync(folder.raw)
        }
    }

    /// Removes the file from a root.
    package static func forget(inRoot path: String) throws(SpaceError) {
        try system(subject) { () throws(Errno) in
            let folder = try OwnedDescriptor.directory(FilePath(path))
            try Directory.unlink(at: folder.raw, file)
            try Directory.sync(folder.raw)
        }
    }
}
