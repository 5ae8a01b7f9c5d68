import CommandWords
import SharedSpace

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Option(
        help: "<dir> The space's root folder (default: $SHARED_SPACE_ROOT, else /dev/shm/shared-space-UID).",
        completion: .directory
    )
    var root: String?

    @Option(help: "<duration> How long to wait for a lock that another process holds (default: 5s).")
    var timeout: Duration?

    @Flag(help: "No word on standard error for what the exit status says: nothing matched, created, waiting.")
    var quiet = false

    func validate() throws { if quiet { Messages.isQuiet = true } }

    /// The space that the options name.
    ///
    /// Only a command that creates a namespace creates the root folder.
    ///
    /// `mustExist`: Whether a root that was named must exist, for a command that looks at all namespaces.
    func space(mustExist: Bool = false) throws(SpaceError) -> Space {
        let space = Space(trusting: root, timeout: timeout ?? .seconds(5))
        try space.checkRoot(mustExist: mustExist)
        return space
    }
}
