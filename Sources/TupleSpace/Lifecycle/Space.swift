import SpaceSystem
import SystemPackage

/// A root folder with namespaces in it: processes with the same root see the same namespaces.
///
/// ```swift
/// let space = try Space()
/// let jobs = try space.namespace("jobs")
/// try jobs.write("resize", 42, "cat.png")
/// ```
///
/// A space itself keeps nothing open, and is cheap to make. All methods may be called from any thread.
public final class Space: Sendable {
    package let spaceRoot: SpaceRoot
    package let timeout: Duration
    private let parts: [any NamespacePart.Type]
    package let held = HeldNamespaces()

    /// Makes a space without looking at its folder, which need not exist.
    ///
    /// - Parameters:
    ///   - root: The folder; `nil` for the default.
    ///   - timeout: The time that an operation waits for a lock that another process holds.
    ///   - parts: The features that keep state for every namespace.
    package init(trusting root: String?, timeout: Duration, parts: [any NamespacePart.Type]) {
        spaceRoot = SpaceRoot(path: root)
        self.timeout = timeout
        self.parts = parts
    }

    /// The root folder's path, absolute.
    public var root: String { spaceRoot.path }

    // MARK: Opening

    /// Opens a namespace, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - name: 1 to 200 bytes without `/` and NUL, not `.` or `..`.
    ///   - owning: Whether this process keeps the namespace alive until the handle is released. With `false` the
    ///     process only observes: nothing is created, and the namespace may be deleted while it is open.
    ///   - options: The options for a new namespace. If the namespace exists already, each given option must have the
    ///     namespace's value.
    /// - Returns: A handle. Keep it: when the process's last handle is released, the process no longer owns the
    ///   namespace.
    /// - Throws: `invalidName`, `incompatible`, `permissionDenied`, `storageFull`, `damaged`, `holderStopped`,
    ///   `holderBusy`, `forked`; `namespaceNotFound` when not owning; `clusterUnavailable` if it would be created in a root
    ///   that several machines share, and the daemon of the root can't say that they have none of this name; `misuse` for
    ///   options that exclude each other.
    public func namespace(
        _ name: String,
        owning: Bool = true,
        options: NamespaceOptions = NamespaceOptions()
    ) throws(SpaceError) -> Namespace {
        try open(name, owner: owning ? .session : .nobody, creates: owning, options: options)
    }

    /// Opens a namespace that exists, and creates none.
    ///
    /// - Throws: `namespaceNotFound`, and what ``namespace(_:owning:options:)`` throws.
    public func existingNamespace(_ name: String, owning: Bool = true) throws(SpaceError) -> Namespace {
        try open(name, owner: owning ? .session : .nobody, creates: false, options: NamespaceOptions())
    }

    /// Opens a namespace for another owner than this process; with `contents`, only a new one, which then has them.
    package func open(
        _ name: String,
        owner: OwnerRequest,
        creates: Bool,
        options: NamespaceOptions,
        contents: InitialContents? = nil
    ) throws(SpaceError) -> Namespace {
        try SpaceError.naming(Opening.operation, on: name) { () throws(SpaceError) in
            guard !options.isReplicated || !options.isLocal else {
                throw .misuse(
                    "it can't be one that several machines share and this machine's alone",
                    advice: "name one of isReplicated and isLocal"
                )
            }
            if options.isReplicated {
                return try openReplicated(name, owner: owner, creates: creates, options: options, contents: contents)
            }
            let deadline = MonotonicInstant.now.advanced(by: timeout)
            while true {
                let found = try openAsIs(name, owner: owner, creates: creates, options: options, contents: contents)
                guard contents == nil, !found.isReplicated, let making = making(of: name), !deadline.hasPassed else {
                    return found
                }
                // What this process had in it would keep it from becoming a shared one.
                try? found.leave()
                making.waitForEnd(until: deadline)
            }
        }
    }

    /// Opens a namespace, also one that another process is making a shared one at this moment.
    package func openAsIs(
        _ name: String,
        owner: OwnerRequest,
        creates: Bool,
        options: NamespaceOptions,
        contents: InitialContents? = nil
    ) throws(SpaceError) -> Namespace {
        let opening = Opening(
            root: spaceRoot,
            name: try NamespaceName(name),
            options: options,
            owner: owner,
            creates: creates,
            timeout: timeout,
            parts: parts,
            contents: contents
        )
        let (entry, core, isNew) = try opening.run()
        let namespace = Namespace(core: core, entry: entry, isOwning: owner.isOwningSession, isNew: isNew)
        do throws(SpaceError) {
            try options.checkHistory(core)
            if core.control.staying.isReplica, owner.isOwningSession || owner.enrolled != nil {
                try core.participation.announceOwner()
            }
        } catch {
            try? namespace.leave()
            throw error
        }
        return namespace
    }

    // MARK: All namespaces

    /// The names of the namespaces, sorted.
    ///
    /// The call also deletes the namespaces without an owner.
    public func namespaceNames() throws(SpaceError) -> [String] {
        try survey().names
    }

    /// The result of a look at every namespace.
    package struct Survey: Sendable {
        /// The names of the namespaces that exist, sorted.
        package var names: [String] = []
        /// The names of the namespaces that were deleted because no process owned them, sorted.
        package var deleted: [String] = []
        /// The reasons why some of the existing namespaces can neither be opened nor reaped.
        package var damage: [SpaceError] = []
        /// Why some of them could not be looked at: this process has no descriptor left.
        package var shortage: SpaceError?
    }

    /// Deletes the namespaces without a living owner, and those that killed processes left half made or half deleted.
    ///
    /// - Returns: The names of the deleted namespaces, sorted.
    public func reap() throws(SpaceError) -> [String] {
        try survey().deleted
    }

    /// Makes the root folder if it does not exist, and checks it.
    package func makeRoot() throws(SpaceError) {
        try SpaceError.naming("open the space", on: nil) { () throws(SpaceError) in
            _ = try spaceRoot.open(create: true)
        }
    }

    /// Refuses a root that this process may not use, and does not create it.
    ///
    /// - Parameter mustExist: Whether a named root that does not exist is refused too.
    /// - Throws: `permissionDenied`; `namespaceNotFound` for a root that does not exist.
    package func checkRoot(mustExist: Bool) throws(SpaceError) {
        try SpaceError.naming("open the space", on: nil) { () throws(SpaceError) in
            try spaceRoot.check(mustExist: mustExist)
        }
    }

    /// Deletes a namespace if it has no owner; if that fails, it is left for later.
    package func reap(_ name: NamespaceName) -> Bool {
        guard let host = try? HostIdentity.current() else { return false }
        let verdict = try? NamespaceRemover(root: spaceRoot, timeout: timeout).reap(name, host: host)
        return verdict == .deleted
    }

    /// Deletes a namespace even if it has owners; their operations throw `namespaceDeleted` from then on.
    ///
    /// - Throws: `namespaceNotFound`, also for a folder that is not a namespace's; `incompatible` if its folder also
    ///   holds files that no namespace has; `holderStopped` and `holderBusy` if its locks can't be acquired.
    public func delete(_ name: String) throws(SpaceError) {
        try SpaceError.naming(Reaping.operation, on: name) { () throws(SpaceError) in
            let name = try NamespaceName(name)
            let wasReplica = try deleteReplicated(name)
            let remover = NamespaceRemover(root: spaceRoot, timeout: timeout)
            let verdict = try remover.delete(name, host: try .current())
            // The daemon may have removed the replica first.
            if wasReplica { return }
            guard verdict == .deleted else { throw .noNamespace(in: root) }
        }
    }

    /// Inspects every namespace, and deletes those that no process owns.
    ///
    /// - Parameters:
    ///   - isOver: Asked before each of them; whether to end the look.
    ///   - onDeleted: Called with each that is deleted, as soon as it is.
    /// - Returns: What there is.
    /// - Throws: What hinders the look at all of them; `cancelled` if it was ended.
    package func survey(
        until isOver: () -> Bool = { Interruption.ofProcess.isTriggered },
        onDeleted: (String) -> Void = { _ in }
    ) throws(SpaceError) -> Survey {
        try SpaceError.naming(Self.surveying, on: nil) { () throws(SpaceError) in try lookAtAll(isOver, onDeleted) }
    }

    private static let surveying = "look at the namespaces"

    private func lookAtAll(
        _ isOver: () -> Bool,
        _ onDeleted: (String) -> Void
    ) throws(SpaceError) -> Survey {
        guard let rootFolder = try spaceRoot.open(create: false) else { return Survey() }
        let host = try HostIdentity.current()
        let entries = try system(root.quotedForPeople) { () throws(Errno) in try Directory.list(rootFolder.raw) }
        Reaping.tidy(rootFolder, entries, host: host)
        var survey = Survey()
        let remover = NamespaceRemover(root: spaceRoot, timeout: timeout)
        for entry in entries {
            // A signal that has asked a command to end ends its look too.
            if isOver() { throw .cancelled }
            // A namespace is a folder. Links are not followed, and files do not belong to the library.
            guard let name = NamespaceName(folder: entry),
                (try? Directory.info(at: rootFolder.raw, entry))?.kind == .directory
            else { continue }
            do throws(SpaceError) {
                switch try remover.reap(name, host: host) {
                case .stays: survey.names.append(name.text)
                case .deleted:
                    survey.deleted.append(name.text)
                    onDeleted(name.text)
                case .vanished: break
                }
            } catch {
                if error.code == .descriptorsExhausted {
                    survey.shortage = error.within(Self.surveying, namespace: name.text)
                }
                // It is a folder that only shares the root with namespaces, or a namespace that is gone by now.
                guard NamespaceFolder.isNamespace(entry, in: rootFolder) ?? false else { continue }
                // It can't be checked from here (damaged, another user's, or its holder is stopped), but it exists.
                survey.names.append(name.text)
                if error.code == .damaged { survey.damage.append(error.within(Self.surveying, namespace: name.text)) }
            }
        }
        survey.names = survey.names.sortedByBytes()
        survey.deleted = survey.deleted.sortedByBytes()
        return survey
    }
}
