package import SharedSpace
import SpaceSystem
import Synchronization

/// The namespace in which the agents of a repository meet.
///
/// It is durable and persistent, so tasks outlive a reboot. It is opened at the first use, and again if it was deleted.
package final class AgentSpace: Sendable {
    package let repository: Repository
    /// The root folder's path.
    package let root: String
    private let opened = Mutex<Namespace?>(nil)

    /// How long a call waits for a lock of the namespace that another process has.
    private static let patience = Duration.seconds(5)

    package init(root: String, repository: Repository) { (self.root, self.repository) = (root, repository) }

    package var name: String { repository.namespace }

    /// Uses the namespace, which is made if it isn't there.
    package func use<Result>(_ body: (Namespace) throws -> Result) throws -> Result {
        do {
            return try body(try namespace())
        } catch let error as SpaceError where error.code == .namespaceDeleted {
            opened.withLock { $0 = nil }
            return try body(try namespace())
        }
    }

    /// Looks at the namespace, and makes nothing; `nil` if it isn't there.
    package func look<Result>(_ body: (Namespace) throws -> Result) throws -> Result? {
        let space = Space(trusting: root, timeout: Self.patience)
        do {
            let namespace = try space.existingNamespace(name, owning: false)
            defer { try? namespace.leave() }
            return try body(namespace)
        } catch let error as SpaceError where [.namespaceNotFound, .namespaceDeleted].contains(error.code) {
            return nil
        }
    }

    private func namespace() throws -> Namespace {
        try opened.withLock { opened in
            if let opened, !opened.isLeft { return opened }
            AgentRoot.makeParents(of: root)
            let space = Space(trusting: root, timeout: Self.patience)
            try space.makeRoot()
            let options = NamespaceOptions(mode: .durable, isPersistent: true)
            let namespace = try space.open(name, owner: .nobody, creates: true, options: options)
            opened = namespace
            return namespace
        }
    }
}

extension Namespace {
    /// The rows of a kind; those that don't have its form are left out.
    func rows<Row: AgentRow>(_ template: Template, as type: Row.Type = Row.self) throws(SpaceError) -> [Row] {
        try readAll(matching: template).compactMap { Row($0.fields) }
    }

    /// The tasks that are claimed, with their claims and holders.
    func claimedTasks() throws(SpaceError) -> [ClaimedTask] {
        try attempt("look at the claims") { (core) throws(SpaceError) in
            try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
                var found: [ClaimedTask] = []
                try snapshot.forEachClaim { (id, row) throws(SpaceError) in
                    guard !row.isBuried, let tuple = try snapshot.claimedTuple(id) else { return true }
                    let claim = HeldClaim(
                        id,
                        row.number,
                        try snapshot.tuple(id, tuple),
                        deliveries: tuple.deliveries
                    )
                    guard let task = TaskRow(claim.tuple.fields) else { return true }
                    var holder: ProcessIdentity?
                    if case .process(let process, _) = row.holder { holder = process }
                    found.append(ClaimedTask(task: task, claim: claim, holder: holder))
                    return true
                }
                return found
            }
        }
    }
}

/// A task and the claim on it.
struct ClaimedTask: Sendable {
    let task: TaskRow
    let claim: HeldClaim
    /// The agent; `nil` if a process has claimed it for itself.
    let holder: ProcessIdentity?

    /// Whether an agent has claimed it.
    func isHeld(by process: ProcessIdentity) -> Bool { holder?.agentKeyBits == process.agentKeyBits }
}

extension ProcessIdentity {
    /// The PID and as much of the start time as a holder in a row has.
    fileprivate var agentKeyBits: UInt64 { ClaimHolder.process(self, member: 0).raw }
}

extension Transaction {
    /// The rows of a kind; those that don't have its form are left out.
    func rows<Row: AgentRow>(_ template: Template, as type: Row.Type = Row.self) throws(SpaceError) -> [Row] {
        try readAll(matching: template).compactMap { Row($0.fields) }
    }

    /// Writes a row that ends with an agent.
    ///
    /// - Throws: `noSuchProcess` if the agent has ended, even if another process has its PID now.
    func write(_ row: some AgentRow, endingWith process: ProcessIdentity, expires: Duration? = nil) throws(SpaceError) {
        try write(tuple: row.tuple, expires: expires, lifetime: .process(process.pid))
        // If the agent lives now, the process of its PID was the agent a moment ago.
        guard process.life == .alive else {
            throw SpaceError(.noSuchProcess, reason: "process \(process.pid), the agent, has ended")
        }
    }
}
