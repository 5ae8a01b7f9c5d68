import ArgumentParser
import Glibc
import SharedSpace

/// What the commands share that hold something by name while another command runs.
///
/// What is held belongs to this process: if it dies the next in the queue holds, and the command dies with it, so that no
/// two overlap. The command gets the fencing number as `$SHARED_SPACE_FENCING`.
struct HoldingOptions: ParsableArguments {
    /// The name of the variable with the fencing number.
    static let variable = "SHARED_SPACE_FENCING"

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var status: StatusOptions

    /// How many words after `--` are the command's: `Words` adds it.
    @Option(name: .customLong("command-words"), help: .hidden)
    var commandWords: Int?

    @Argument(help: ArgumentHelp("The namespace.", valueName: "ns"), completion: .namespaces)
    var namespace: String

    @Argument(help: "The name.")
    var name: String

    @Argument(help: ArgumentHelp("After '--': the command to run.", valueName: "cmd"))
    var command: [String] = []

    func validate() throws {
        if commandWords == nil, let word = command.first {
            throw ValidationError("'\(word)' is one word too many: put '--' before the command to run")
        }
        if let commandWords, commandWords != command.count {
            throw ValidationError("before '--' there are the namespace and the name")
        }
    }

    func requireCommand() throws {
        if commandWords == nil {
            throw ValidationError("the command to run is missing: put '--' and the command at the end")
        }
    }

    /// How long to wait: without `--wait` there is no limit.
    var timeout: Duration? { if case .duration(let duration)? = waiting.wait { duration } else { nil } }

    /// Opens the namespace, or creates it, and turns what a wait ends with into this command's ending.
    func use<Result>(_ body: (Namespace) throws -> Result) throws -> Result {
        try NamespaceAccess.checkObjectName(name)
        let access = try NamespaceAccess(common, namespace)
        do {
            return try NamespaceAccess.use(try access.open(creating: creation, owner: owner), body)
        } catch let error as SpaceError where error.code == .cancelled {
            throw Terminated()
        } catch let error as SpaceError where error.code == .timedOut {
            throw CommandFailure(status.nothingObtained.status, "\(error)")
        }
    }

    /// Runs the command while something is held, and ends with its status.
    ///
    /// `grace`: How long the command may go on after SIGTERM when what is held is taken away.
    func hold(grace: Duration = .seconds(5), _ acquire: (Namespace) throws(SpaceError) -> Hold) throws {
        let command = ChildCommand(wordCount: commandWords ?? 0)
        let status = try use { namespace -> Int32 in
            let hold = try acquire(namespace)
            try Signals.check()
            setenv(Self.variable, "\(hold.fencing)", 1)
            let existence = Existence(space: try common.space(), name: namespace.name)
            let right = CommandRight(grace: grace) { Self.isHeld(hold, existence) }
            let status = try command.run(with: right).status
            do throws(SpaceError) {
                try hold.release()
            } catch {
                // It went with its namespace.
                guard error.code == .namespaceDeleted else { throw error }
            }
            return status
        }
        if status != 0 { throw CommandFailure(ExitStatus(rawValue: status), nil) }
    }

    /// Whether the command may go on with what is held.
    ///
    /// What can't be looked up is held as long as nothing says otherwise. A command may delete the namespace itself and go on;
    /// but once there is one of that name again, another may hold the like in it.
    private static func isHeld(_ hold: borrowing Hold, _ existence: Existence) -> Bool {
        do throws(SpaceError) {
            return try hold.isHeld()
        } catch  where error.code == .namespaceDeleted {
            return !((try? existence.isThere()) ?? false)
        } catch {
            return true
        }
    }
}
