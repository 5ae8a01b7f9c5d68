import CommandWords
import Glibc
import SharedSpace

/// The options of the commands that hold something by name while another command runs.
///
/// What is held belongs to this process. If this process dies, the next in the queue holds, and the command dies with
/// this process, so that no two holders overlap. The command gets the fencing number as `$SHARED_SPACE_FENCING`.
struct HoldingOptions: ParsableArguments {
    /// The name of the variable with the fencing number.
    static let variable = "SHARED_SPACE_FENCING"

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(
        help: "The name.",
        completion: .objects(.lock, .semaphore, .election, .barrier, .latch, .rateLimit)
    )
    var name: String

    @OptionGroup var tail: CommandTail

    /// The time-out of the wait, or `nil` to wait indefinitely, also without `--wait`.
    var timeout: Duration? { wait?.timeout }

    /// Opens the namespace, or creates it; if the wait times out, the command ends with the status for that.
    func use<Result>(for kind: SharedObjectKind, _ body: (Namespace) throws -> Result) throws -> Result {
        do {
            return try checkedAccess(for: kind).use(for: owner, creating: creation) { namespace in
                try WaitNotice.during(namespace, isUnlimited: timeout == nil) { try body(namespace) }
            }
        } catch let error as SpaceError where error.code == .timedOut {
            throw status.nothingObtained("\(error)")
        }
    }

    /// The way to the namespace, for an object whose name can be one.
    func checkedAccess(for kind: SharedObjectKind) throws -> NamespaceAccess {
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: kind)
        return access
    }

    /// Runs the command, if there is one, once what was waited for has come; it ends with the command's status.
    func runCommand() throws {
        if tail.isMissing { return }
        try Signals.check()
        try tail.command.run().passOn()
    }

    /// Runs the command while something is held, and ends with the command's status.
    ///
    /// `grace`: How long the command may go on after SIGTERM if it loses what is held.
    func hold(
        _ kind: SharedObjectKind,
        grace: Duration = .seconds(5),
        _ acquire: (Namespace) throws(SpaceError) -> Hold
    ) throws {
        try hold(kind, grace: grace) { (namespace) throws(SpaceError) in
            let held = KeptHold(try acquire(namespace))
            return ([held], [held.hold.fencing])
        }
    }

    /// Runs the command while several things are held, whose fencing numbers it gets with spaces in between.
    func hold(
        _ kind: SharedObjectKind,
        grace: Duration = .seconds(5),
        all acquire: (Namespace) throws(SpaceError) -> (all: [KeptHold], fencing: [UInt64])
    ) throws {
        let ending = try use(for: kind) { namespace in
            let (holds, fencing) = try acquire(namespace)
            try Signals.check()
            setenv(Self.variable, fencing.map(String.init).joined(separator: " "), 1)
            let existence = Existence(space: try common.space(), name: namespace.name)
            let right = CommandRight(grace: grace) { holds.allSatisfy { Self.isHeld($0.hold, existence) } }
            let ending = try tail.command.run(with: right)
            do throws(SpaceError) {
                for held in holds.reversed() { try held.hold.release() }
            } catch {
                switch error.code {
                // The hold went with its namespace.
                case .namespaceDeleted: break
                case .holdLost: throw error
                default:
                    Messages.print(
                        "space: \(error); the command has ended all the same, and what it held goes on with the end of "
                            + "this process"
                    )
                }
            }
            return ending
        }
        try ending.passOn()
    }

    /// Whether the command may go on with what is held.
    ///
    /// If that can't be looked up, the hold counts as held. A command may delete the namespace itself and go on; but
    /// once there is a namespace of that name again, another process may hold the same name in it.
    private static func isHeld(_ hold: borrowing Hold, _ existence: Existence) -> Bool {
        do throws(SpaceError) {
            return try hold.isHeld
        } catch  where error.code == .namespaceDeleted {
            return !((try? existence.isThere()) ?? false)
        } catch {
            return true
        }
    }
}
