import Glibc
package import SpaceSystem
import Synchronization
import SystemPackage

/// The root folder of a space, with its namespaces, its nursery and its graveyard.
///
/// The folder is opened again for each use. So if a root was removed and made again (logind removes it from /dev/shm at
/// logout), the new one is used, and no descriptor is held for the old one. Opening checks the folder's owner, and
/// follows no symbolic link.
package final class SpaceRoot: Sendable {
    package static let nursery = ".nursery"
    package static let graveyard = ".graveyard"
    static let taskWords = ".doorbells"
    package static let variable = "SHARED_SPACE_ROOT"

    /// The absolute path, so a process that changes its working directory stays in the space that it has opened.
    package let path: String
    /// Whether a caller or the environment named the root.
    package let isNamed: Bool

    private static let counter = Atomic<UInt64>(0)
    private let wakeupCache = Mutex<TaskWakeupFile?>(nil)

    /// Makes a root from a path.
    ///
    /// - Parameter path: The path, or `nil` for `$SHARED_SPACE_ROOT`, else `/dev/shm/shared-space-<uid>`. No other
    ///   variable is read: `XDG_RUNTIME_DIR` is missing under cron, sudo and services, so with it some processes would
    ///   silently use another root.
    package init(path: String?) {
        if let path {
            (self.path, isNamed) = (Self.absolute(path), true)
        } else if let value = getenv(Self.variable), value[0] != 0 {
            (self.path, isNamed) = (Self.absolute(String(cString: value)), true)
        } else {
            (self.path, isNamed) = ("/dev/shm/shared-space-\(geteuid())", false)
        }
    }

    private static func absolute(_ path: String) -> String {
        guard !path.isEmpty, !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        let name = path == "." ? "" : path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        let base = String(cString: folder)
        return name.isEmpty ? base : base == "/" ? "/\(name)" : "\(base)/\(name)"
    }

    /// The error for a root that does not exist.
    package var missing: SpaceError {
        SpaceError(
            .namespaceNotFound,
            reason: "the root folder \(path.quotedForPeople) does not exist",
            advice: "look for a typing error in --root or $\(Self.variable); the first write makes the folder"
        )
    }

    /// Refuses a root that may not be used.
    ///
    /// If `mustExist` is true, it also refuses a named root that does not exist. The default root, if missing, counts
    /// as an empty one.
    package func check(mustExist: Bool) throws(SpaceError) {
        guard let folder = try open(create: false) else {
            if mustExist, isNamed { throw missing }
            return
        }
        _ = consume folder
    }

    /// Opens the root, and makes it if `create` is true.
    ///
    /// - Returns: `nil` if it does not exist and `create` is false.
    package func open(create: Bool) throws(SpaceError) -> OwnedDescriptor? {
        let path = path
        if path.isEmpty || path.utf8.contains(0) {
            throw .misuse(
                "the root folder's path is empty or has a NUL in it",
                advice: "name a folder with --root or $\(Self.variable)"
            )
        }
        let isThere: Bool
        do throws(Errno) {
            _ = try Directory.info(at: AT_FDCWD, path)
            isThere = true
        } catch .noSuchFileOrDirectory {
            isThere = false
        } catch {
            throw refuse(error)
        }
        if !isThere {
            guard create else { return nil }
            if mkdir(path, 0o700) == 0 {
                // Whatever the umask is, the folder is its user's.
                do throws(Errno) {
                    let made = try Directory.openMade(at: AT_FDCWD, path)
                    let mode = try FileInfo.of(made.raw).mode
                    if mode & 0o700 != 0o700 { try Directory.setMode(made.raw, mode | 0o700) }
                } catch {
                    throw refuse(error)
                }
            } else if errno != EEXIST {
                // EEXIST: another process was quicker.
                throw refuse(Errno(rawValue: errno))
            }
        }
        let descriptor = try openExisting()
        let info = try system(path.quotedForPeople) { () throws(Errno) in try FileInfo.of(descriptor.raw) }
        if !isNamed {
            try makePrivate(descriptor, info)
        } else {
            try Self.check(info, path)
        }
        return descriptor
    }

    /// Makes sure that only this user can access the default root.
    ///
    /// `/dev/shm` is open to all users. So another user could make the folder first, for a group that both users belong
    /// to, and could then read what this user writes, and feed it tuples. A root that a group shares has to be named.
    private func makePrivate(_ folder: borrowing OwnedDescriptor, _ info: FileInfo) throws(SpaceError) {
        guard info.owner == geteuid() else {
            throw .permissionDenied(
                "the default root \(path.quotedForPeople) belongs to uid \(info.owner), not to \(geteuid())",
                advice: "have its owner or root remove it, or name a root of your own (\(Self.variable) or --root)"
            )
        }
        guard info.mode & 0o022 == 0 else {
            throw .permissionDenied(
                "others may write in the default root \(path.quotedForPeople)"
                    + " (mode \(String(info.mode & 0o7777, radix: 8)))",
                advice: "chmod 700 it, after a look at what is in it; to share a root with a group, name it "
                    + "(\(Self.variable) or --root)"
            )
        }
        guard info.mode & 0o077 != 0 else { return }
        let raw = folder.raw
        // Others could only read the folder, so nothing in it is theirs.
        try system(path.quotedForPeople) { () throws(Errno) in try Directory.setMode(raw, 0o700) }
    }

    private func openExisting() throws(SpaceError) -> OwnedDescriptor {
        do throws(Errno) {
            return try OwnedDescriptor.directory(FilePath(path))
        } catch {
            throw refuse(error)
        }
    }

    private func refuse(_ error: Errno) -> SpaceError {
        // openat(2) with O_DIRECTORY | O_NOFOLLOW says ENOTDIR for a symbolic link, as it does for a file.
        if error == .notDirectory || error == .tooManySymbolicLinkLevels {
            return .permissionDenied(
                "the root \(path.quotedForPeople) is a symbolic link or no folder",
                advice: "name the real folder: links are not followed, lest somebody redirects the space"
            )
        }
        return SpaceError(error, subject: "the root folder \(path.quotedForPeople)")
    }

    /// Refuses a folder unless it is ours or shared with one of our groups, and no other user may write in it.
    package static func check(_ info: FileInfo, _ path: String) throws(SpaceError) {
        let isShared = info.mode & 0o070 == 0o070 && belongsToGroup(info.group)
        guard info.owner == geteuid() || isShared else {
            throw .permissionDenied(
                "the folder \(path.quotedForPeople) belongs to uid \(info.owner), not to \(geteuid())",
                advice: "use a root of your own (SHARED_SPACE_ROOT or --root)"
            )
        }
        guard info.mode & 0o002 == 0, isShared || info.mode & 0o020 == 0 else {
            let mode = String(info.mode & 0o7777, radix: 8)
            let isGroups = info.mode & 0o2072 == 0o2070
            throw .permissionDenied(
                isGroups
                    ? "the folder \(path.quotedForPeople) is one of the group \(info.group), to which this process does not belong"
                    : "others may write in the folder \(path.quotedForPeople) (mode \(mode))",
                advice: isGroups
                    ? "use it as a member of that group (sg GROUP -c '…', or usermod -aG), also as root"
                    : "chmod go-w it, after a look at what is in it"
            )
        }
    }

    /// Refuses a group whose members could use what this process makes, and this process could not.
    package static func check(group: UInt32) throws(SpaceError) {
        guard !belongsToGroup(group) else { return }
        throw .permissionDenied(
            "this process does not belong to the group \(group), and could not use the namespace itself",
            advice: "make it as a member of that group (sg GROUP -c '…', or usermod -aG), also as root"
        )
    }

    private static func belongsToGroup(_ group: UInt32) -> Bool {
        if getegid() == group { return true }
        let count = getgroups(0, nil)
        guard count > 0 else { return false }
        var groups = [gid_t](repeating: 0, count: Int(count))
        return getgroups(count, &groups) > 0 && groups.contains(group)
    }

    // MARK: Folders in the root

    /// Opens one of the root's own folders, and makes it if it is missing.
    ///
    /// The group can access it from its first moment on. If a folder is not accessible to the group, its owner repairs
    /// it; while the folder is empty, any member can do so by replacing it.
    package func ownFolder(_ name: String, in root: borrowing OwnedDescriptor) throws(SpaceError) -> OwnedDescriptor {
        try system("\(path)/\(name)") { () throws(Errno) in
            let mode = try FileInfo.of(root.raw).mode & 0o770
            // Another turn is needed only if another process made progress.
            for _ in 0..<16 {
                do throws(Errno) {
                    let folder = try OwnedDescriptor.directory(at: root.raw, name)
                    let info = try FileInfo.of(folder.raw)
                    if info.owner == geteuid(), info.mode & mode != mode {
                        try Directory.setMode(folder.raw, info.mode | mode)
                    }
                    return folder
                } catch .noSuchFileOrDirectory {
                    try makeOwnFolder(name, in: root.raw, mode)
                } catch .permissionDenied {
                    do throws(Errno) {
                        try Directory.removeEmpty(at: root.raw, name)
                    } catch {
                        throw error == .noSuchFileOrDirectory ? error : .permissionDenied
                    }
                }
            }
            throw .resourceBusy
        }
    }

    private func makeOwnFolder(_ name: String, in root: CInt, _ mode: UInt32) throws(Errno) {
        do throws(Errno) {
            let draft = try Nursery.draft(of: name, number: Self.counter.add(1, ordering: .relaxed).newValue)
            try Directory.makeDirectory(at: root, name, mode: mode, draft: draft)
        } catch .fileExists {
            // Another process was quicker.
        }
    }

    /// The file with the wake-up words of processes with waiting tasks, or `nil` if no process ever had one.
    package var wakeupFile: TaskWakeupFile? {
        wakeupCache.withLock { cache in
            if let file = cache, !file.isShared { cache = nil }
            if cache == nil { cache = try? TaskWakeupFile.open(in: self, create: false) }
            return cache
        }
    }

    /// The same file, made if it is missing.
    package func makeWakeupFile() throws(SpaceError) -> TaskWakeupFile {
        if let file = wakeupFile { return file }
        let file = try TaskWakeupFile.open(in: self, create: true)
        return wakeupCache.withLock { cache in
            cache = cache ?? file
            return cache ?? file
        }
    }
}
