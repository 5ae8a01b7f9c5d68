import ArgumentParser
import SharedSpace

/// What every command takes.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The space's root folder (default: $SHARED_SPACE_ROOT, else /dev/shm/shared-space-UID).",
            valueName: "dir"
        ),
        completion: .directory
    )
    var root: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait for a lock that another process holds (default: 5s).",
            valueName: "duration"
        )
    )
    var timeout: DurationArgument?

    /// The space that the options name; what creates a namespace creates its root folder too, nothing else does.
    ///
    /// `mustExist`: For a command that looks at all that is there: a root that was named has to exist.
    func space(mustExist: Bool = false) throws(SpaceError) -> Space {
        let space = Space(trusting: root, timeout: timeout?.duration ?? .seconds(5))
        try space.checkRoot(mustExist: mustExist)
        return space
    }
}
