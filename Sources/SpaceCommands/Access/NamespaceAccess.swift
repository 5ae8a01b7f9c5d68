import SharedSpace
import SpaceSystem

/// How a command comes to its namespace: with which owner, creating it or not, waiting for it or not.
struct NamespaceAccess {
    let space: Space
    let name: String

    init(_ common: CommonOptions, _ name: String) throws(SpaceError) {
        self.space = try common.space()
        self.name = name
    }

    /// - Throws: `CommandFailure` (bad data) for a name that no lock, queue, responder … can have.
    static func checkObjectName(_ name: String) throws {
        guard (1...Limits.objectNameBytes).contains(name.utf8.count) else {
            throw CommandFailure.badData(
                "a name of \(name.utf8.count) bytes is out of range: give one of 1 to \(Limits.objectNameBytes) bytes"
            )
        }
    }

    // MARK: Opening

    /// Opens the namespace, or creates it, for the owner that the options name.
    ///
    /// - Throws: `CommandFailure` (usage) where it would create a namespace that nobody owns.
    func open(creating creation: CreationOptions, owner: OwnerOptions) throws -> Namespace {
        try open(for: try owner.choice(), creates: true, options: creation.options)
    }

    /// Opens an existing namespace for the owner that the options name.
    ///
    /// Where not even an inode is left for the enrolment, what is there is read and taken without it.
    func openExisting(owner: OwnerOptions) throws -> Namespace {
        do {
            return try open(for: try owner.choice(), creates: false, options: NamespaceOptions())
        } catch let error as SpaceError where error.code == .storageFull {
            return try openExisting()
        }
    }

    /// Opens an existing namespace without enrolling anybody.
    func openExisting() throws(SpaceError) -> Namespace {
        try space.existingNamespace(name, owning: false)
    }

    /// Opens the namespace for a chosen owner.
    func open(for choice: OwnerOptions.Choice, creates: Bool, options: NamespaceOptions) throws -> Namespace {
        do {
            let request = try Self.request(choice)
            do {
                return try space.open(name, owner: request, creates: creates, options: options)
            } catch {
                // The parent exited after it was looked at; anybody who was named has to exist.
                guard error.code == .noSuchProcess, case .parent = choice else { throw error }
                return try space.open(name, owner: .nobody, creates: creates, options: options)
            }
        } catch let error as SpaceError where error.code == .noOwner {
            throw OwnerOptions.refusal(name, choice)
        }
    }

    /// Turns a choice into a process that can't be mistaken for a later one with the same PID.
    static func request(_ choice: OwnerOptions.Choice) throws -> OwnerRequest {
        switch choice {
        case .nobody, .parentGone:
            return .nobody
        case .process(let pid):
            guard let process = ProcessIdentity.of(pid: pid), process.life == .alive else {
                guard ProcessIdentity.isHidden(pid: pid) else {
                    throw CommandFailure.usage("process \(pid) can't be an owner: there is none, or it has exited")
                }
                throw CommandFailure.usage(
                    "process \(pid) can't be an owner: \(OwnerOptions.hidden); \(OwnerOptions.adviceForHidden)"
                )
            }
            return .process(process)
        case .parent(let pid):
            // Still the parent after its start time was read: then that start time is the parent's. One that is hidden owns
            // nothing.
            guard let process = ProcessIdentity.of(pid: pid), OwnerOptions.isParent(pid) else { return .nobody }
            return .process(process)
        }
    }

    // MARK: Using

    /// Uses a namespace and leaves it, so that what the session holds is returned and, if nobody owns it, it goes.
    ///
    /// What `body` has done is done, also where the namespace can't be left in time: that is said on standard error, and changes
    /// no status. The end of this process ends the session as well.
    static func use<Result>(_ namespace: Namespace, _ body: (Namespace) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body(namespace)
        } catch {
            // The first error is the one to report; what could not be left is left by the process's end.
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

    /// Looks for something in an existing namespace, once or until there is one.
    ///
    /// With a limit a missing namespace counts as nothing yet, and so does one that is deleted while the command waits.
    ///
    /// `attempt` looks, waiting as long as it is told (`nil`: not at all), and returns `nil` for nothing; so does this when the
    /// time has passed.
    func obtain<Result>(
        _ limit: WaitLimit?,
        owner: OwnerOptions,
        _ attempt: (Namespace, Duration?) throws -> Result?
    ) throws -> Result? {
        try obtain(limit, opening: { try openExisting(owner: owner) }, attempt)
    }

    /// The same, for who opens it in another way.
    func obtain<Result>(
        _ limit: WaitLimit?,
        opening open: () throws -> Namespace,
        _ attempt: (Namespace, Duration?) throws -> Result?
    ) throws -> Result? {
        let deadline: MonotonicInstant
        switch limit {
        case nil:
            return try Self.use(try open()) { try attempt($0, nil) }
        case .duration(let duration):
            deadline = .now.advanced(by: duration)
        case .unlimited:
            deadline = .distantFuture
        }
        while true {
            do {
                return try Self.use(try open()) { namespace in
                    let remaining = deadline.remaining
                    return try attempt(namespace, remaining == .zero ? nil : remaining)
                }
            } catch let error as SpaceError where error.code == .namespaceNotFound || error.code == .namespaceDeleted {
                guard try Existence(space: space, name: name).wait(for: .existing, until: deadline) else { return nil }
            } catch let error as SpaceError where error.code == .cancelled {
                throw Terminated()
            }
        }
    }
}
