import Glibc
package import SpaceSystem
import Synchronization
import SystemPackage

/// The root folder of a space: where its namespaces, its nursery and its graveyard lie.
///
/// It is opened anew for each use, so that a root removed and made again (logind does that in /dev/shm at logout) is the
/// new one, and no descriptor is held for it. Opening checks who owns it and follows no symbolic link.
package final class SpaceRoot: Sendable {
    package static let nursery = ".nursery"
    package static let graveyard = ".graveyard"
    static let doorbells = ".doorbells"
    package static let variable = "SHARED_SPACE_ROOT"

    /// Absolute: a process that changes its working directory stays in the space that it has opened.
    package let path: String
    /// Whether a caller or the environment named it.
    package let isNamed: Bool

    private static let counter = Atomic<UInt64>(0)
    private let wakeupCache = Mutex<TaskWakeupFile?>(nil)

    /// - Parameter path: `nil`: `$SHARED_SPACE_ROOT`, else `/dev/shm/shared-space-<uid>`, whatever else the environment
    ///   says (`XDG_RUNTIME_DIR` is missing under cron, sudo and services, and processes would silently meet elsewhere).
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

    /// The error of a look into a root that does not exist.
    package func missing(_ operation: String) -> SpaceError {
        SpaceError(
            .namespaceNotFound,
            operation,
            reason: "the root folder \(path.quotedForPeople) does not exist",
            advice: "look for a typing error in --root or $\(Self.variable); the first write makes the folder"
        )
    }

    /// Refuses a root that may not be used; and, if it must exist, one that was named and does not: the default one then is an
    /// empty one.
    package func check(mustExist: Bool, for operation: String) throws(SpaceError) {
        guard let folder = try open(create: false, for: operation) else {
            if mustExist, isNamed { throw missing(operation) }
            return
        }
        _ = consume folder
    }

    /// Opens the root, and makes it if asked.
    ///
    /// - Returns: `nil` when it does not exist and `create` is false.
    package func open(create: Bool, for operation: String) throws(SpaceError) -> OwnedDescriptor? {
        let path = path
        if path.isEmpty || path.utf8.contains(0) {
            throw SpaceError(
                .invalidArgument,
                operation,
                reason: "the root folder's path is empty or has a NUL in it",
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
            throw refuse(error, operation)
        }
        if !isThere {
            guard create else { return nil }
            // EEXIST: another process was quicker.
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw refuse(Errno(rawValue: errno), operation) }
        }
        let descriptor = try openExisting(operation)
        let info = try system(operation, path.quotedForPeople) { () throws(Errno) in try FileInfo.of(descriptor.raw) }
        if !isNamed {
            try makePrivate(descriptor, info, operation)
        } else {
            try Self.check(info, path, operation)
        }
        return descriptor
    }

    /// Makes sure that the default root is this user's alone.
    ///
    /// `/dev/shm` is open to all users, so another user can make the folder first, for a group that both belong to: it would
    /// read what this user writes, and feed it tuples. A root that a group shares has to be named.
    private func makePrivate(_ folder: borrowing OwnedDescriptor, _ info: FileInfo, _ operation: String)
        throws(SpaceError)
    {
        guard info.owner == geteuid() else {
            throw SpaceError(
                .permissionDenied,
                operation,
                reason: "the default root \(path.quotedForPeople) belongs to uid \(info.owner), not to \(geteuid())",
                advice: "have its owner or root remove it, or name a root of your own (\(Self.variable) or --root)"
            )
        }
        guard info.mode & 0o022 == 0 else {
            throw SpaceError(
                .permissionDenied,
                operation,
                reason: "others may write in the default root \(path.quotedForPeople)"
                    + " (mode \(String(info.mode & 0o7777, radix: 8)))",
                advice: "chmod 700 it, after a look at what is in it; to share a root with a group, name it "
                    + "(\(Self.variable) or --root)"
            )
        }
        guard info.mode & 0o077 != 0 else { return }
        let raw = folder.raw
        // Others could only look, so nothing in it is theirs.
        try system(operation, path.quotedForPeople) { () throws(Errno) in try Directory.setMode(raw, 0o700) }
    }

    private func openExisting(_ operation: String) throws(SpaceError) -> OwnedDescriptor {
        do throws(Errno) {
            return try OwnedDescriptor.directory(FilePath(path))
        } catch {
            throw refuse(error, operation)
        }
    }

    private func refuse(_ error: Errno, _ operation: String) -> SpaceError {
        // openat(2) with O_DIRECTORY | O_NOFOLLOW says ENOTDIR for a symbolic link, as it does for a file.
        if error == .notDirectory || error == .tooManySymbolicLinkLevels {
            return SpaceError(
                .permissionDenied,
                operation,
                reason: "the root \(path.quotedForPeople) is a symbolic link or no folder",
                advice: "name the real folder: links are not followed, lest somebody redirects the space"
            )
        }
        return SpaceError(error, operation, subject: "the root folder \(path.quotedForPeople)")
    }

    /// A folder is used if it is ours, or shared with one of our groups, and nobody else may write in it.
    package static func check(_ info: FileInfo, _ path: String, _ operation: String) throws(SpaceError) {
        let isShared = info.mode & 0o070 == 0o070 && belongsToGroup(info.group)
        guard info.owner == geteuid() || isShared else {
            throw SpaceError(
                .permissionDenied,
                operation,
                reason: "the folder \(path.quotedForPeople) belongs to uid \(info.owner), not to \(geteuid())",
                advice: "use a root of your own (SHARED_SPACE_ROOT or --root)"
            )
        }
        guard info.mode & 0o002 == 0, isShared || info.mode & 0o020 == 0 else {
            throw SpaceError(
                .permissionDenied,
                operation,
                reason:
                    "others may write in the folder \(path.quotedForPeople) (mode \(String(info.mode & 0o7777, radix: 8)))",
                advice: "chmod go-w it, after a look at what is in it"
            )
        }
    }

    private static func belongsToGroup(_ group: UInt32) -> Bool {
        if getegid() == group { return true }
        let count = getgroups(0, nil)
        guard count > 0 else { return false }
        var groups = [gid_t](repeating: 0, count: Int(count))
        return getgroups(count, &groups) > 0 && groups.contains(group)
    }

    // MARK: Folders in the root

    /// Opens one of the root's own folders, made if need be.
    ///
    /// It is open to the group from its first moment on. One that is not is mended: by its owner, or, as long as it is empty, by
    /// any member, who replaces it.
    package func ownFolder(_ name: String, in root: borrowing OwnedDescriptor, for operation: String) throws(SpaceError)
        -> OwnedDescriptor
    {
        try system(operation, "\(path)/\(name)") { () throws(Errno) in
            let mode = try FileInfo.of(root.raw).mode & 0o770
            // Each further turn is caused by another process's progress.
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

    /// Where processes with waiting tasks are rung; `nil` as long as no process ever had one.
    package var wakeupFile: TaskWakeupFile? {
        wakeupCache.withLock { cache in
            if let file = cache, !file.isLinked { cache = nil }
            if cache == nil { cache = try? TaskWakeupFile.open(in: self, create: false) }
            return cache
        }
    }

    /// The same, made if need be.
    package func makeWakeupFile() throws(SpaceError) -> TaskWakeupFile {
        if let file = wakeupFile { return file }
        let file = try TaskWakeupFile.open(in: self, create: true)
        return wakeupCache.withLock { cache in
            cache = cache ?? file
            return cache ?? file
        }
    }
}
