import SharedSpace
import SpaceSystem

/// How a command comes to its namespace: for which owner, and whether it creates the namespace or waits for it.
struct NamespaceAccess {
    let space: Space
    let name: String

    init(_ common: CommonOptions, _ name: String) throws(SpaceError) {
        self.space = try common.space()
        self.name = name
    }

    /// Refuses a name that no lock, queue, responder … can have, before a namespace is opened or created for it.
    ///
    /// - Throws: `CommandFailure` (bad data).
    func check(_ objectName: String, of kind: SharedObjectKind, _ what: String = "the name") throws {
        do throws(SpaceError) {
            try Limits.check(objectName: objectName, what)
        } catch {
            throw CommandFailure.badData("\(error.named("use \(kind.phrase)", name))")
        }
    }

    /// What a command learns of an item or a tuple in the namespace.
    func facts(id: UInt64, deliveries: Int, fencing: UInt64) -> CommandFacts {
        CommandFacts(name, root: space.root, id: id, deliveries: deliveries, fencing: fencing)
    }

    // MARK: Opening

    /// Opens the namespace, or creates it, for the owner that the options name.
    ///
    /// - Throws: `CommandFailure` (usage) if the namespace would be created without an owner.
    func open(
        creating creation: CreationOptions,
        bounds: CreationBounds? = nil,
        owner: OwnerOptions
    ) throws -> Namespace {
        try open(for: try owner.choice(), creates: creation.create, options: creation.options(bounds))
    }

    /// Opens an existing namespace, for the owner that the options name; without options it enrols no process.
    ///
    /// If there is no inode left for the enrolment, the command reads and takes without an enrolment.
    func openExisting(for owner: OwnerOptions? = nil) throws -> Namespace {
        if let owner {
            do {
                return try open(for: try owner.choice(), creates: false, options: NamespaceOptions())
            } catch let error as SpaceError where error.code == .storageFull {
                // Opened without an enrolment, below.
            }
        }
        return try space.existingNamespace(name, owning: false)
    }

    /// Opens the namespace for a chosen owner; if `contents` are given, the namespace must be new, and starts with
    /// them.
    ///
    /// If the caller named no owner, the namespace ends with a process that the caller may not have thought of. So
    /// standard error says which process owns a namespace that is created in this way.
    func open(
        for choice: OwnerOptions.Choice,
        creates: Bool,
        options: NamespaceOptions,
        contents: InitialContents? = nil
    ) throws -> Namespace {
        do {
            let request = try choice.request()
            let namespace = try space.open(name, owner: request, creates: creates, options: options, contents: contents)
            if namespace.isNew, !options.isPersistent { choice.tell(creationOf: name) }
            return namespace
        } catch let error as SpaceError where error.code == .noSuchProcess {
            // What was found may have exited since; then there is another, or none. A process that was named must exist.
            guard case .found = choice else { throw error }
            return try open(for: try OwnerOptions.found(), creates: creates, options: options, contents: contents)
        } catch let error as SpaceError where error.code == .noOwner {
            throw OwnerOptions.refusal(name, choice)
        }
    }

    // MARK: Using

    /// Uses a namespace and leaves it: that returns what the session holds, and deletes the namespace if it has no
    /// owner.
    ///
    /// If the namespace can't be left in time, what `body` has done stays done: standard error says so, and the status
    /// stays the same. The end of this process ends the session as well.
    static func use<Result>(_ namespace: Namespace, _ body: (Namespace) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body(namespace)
        } catch {
            // The first error is the one to report. If leaving fails, the end of the process ends the session.
            try? namespace.leave()
            throw error
        }
        do throws(SpaceError) {
            try namespace.leave()
        } catch {
            Messages.print(
                "space: \(error); what was asked for is done all the same, and this process leaves with its end "
                    + "(a namespace without owners is then deleted by the next that opens or lists it)"
            )
        }
        return result
    }

    /// Uses the namespace for the owner that the options name, or creates it; without options it enrols no process,
    /// and without those of a creation the namespace must exist.
    func use<Result>(
        for owner: OwnerOptions? = nil,
        creating creation: CreationOptions? = nil,
        bounds: CreationBounds? = nil,
        _ body: (Namespace) throws -> Result
    ) throws -> Result {
        guard let owner, let creation else { return try Self.use(try openExisting(for: owner), body) }
        return try Self.use(try open(creating: creation, bounds: bounds, owner: owner), body)
    }

    /// Looks for something in an existing namespace, once or until it is there.
    ///
    /// With a limit, a namespace that is missing, or is deleted while the command waits, counts as one without a match.
    ///
    /// `attempt` looks, and waits at most as long as its second argument says (`nil`: not at all). It returns `nil` if
    /// it finds nothing.
    ///
    /// - Returns: What `attempt` found; `nil` when the time has passed.
    func obtain<Result>(
        _ limit: WaitLimit?,
        for owner: OwnerOptions? = nil,
        _ attempt: (Namespace, Duration?) throws -> Result?
    ) throws -> Result? {
        guard let limit else { return try use(for: owner) { try attempt($0, nil) } }
        let deadline = MonotonicInstant.deadline(after: limit.timeout) ?? .distantFuture
        while true {
            do {
                return try use(for: owner) { namespace in
                    let remaining = deadline.remaining
                    return try WaitNotice.during(namespace, isUnlimited: limit.timeout == nil) {
                        try attempt(namespace, remaining == .zero ? nil : remaining)
                    }
                }
            } catch let error as SpaceError where error.isOfMissingNamespace {
                guard try Existence(space: space, name: name).wait(for: .existing, until: deadline) else { return nil }
            }
        }
    }
}
