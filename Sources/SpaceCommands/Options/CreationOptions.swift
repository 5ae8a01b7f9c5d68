import CommandWords
import SharedSpace

/// The options with which a namespace is created.
struct CreationOptions: ParsableArguments {
    @Flag(help: "If it is created: sync every commit to the disk. One that exists must be so.")
    var durable = false

    @Flag(help: "If it is created: keep stray pointers of its users away from the data. One that exists must be so.")
    var guarded = false

    @Flag(help: "If it is created: keep it when its last owner has exited. One that exists must be so.")
    var persistent = false

    @Flag(help: "If it is created: share it with all machines that have joined. One that exists must be so.")
    var replicated = false

    @Flag(
        help: """
            If it is created: make it this machine's alone, without asking the root's daemon whether other machines share one of \
            its name. One that exists must be so.
            """
    )
    var local = false

    @Option(
        help: """
            <changes[,bytes]> If it is created: keep so many changes, and bytes of them, also without a watcher. One \
            that exists must be so.
            """
    )
    var history: History?

    @Flag(
        name: .customLong("create"),
        inversion: .prefixedNo,
        help: "Create it if there is none; without, that is an error (69)."
    )
    var create = true

    mutating func validate() throws {
        if durable && guarded { throw ValidationError("--durable and --guarded exclude each other") }
        if replicated && local { throw ValidationError("--replicated and --local exclude each other") }
    }

    /// The options, with the bounds of commands that take them.
    func options(_ bounds: CreationBounds? = nil) -> NamespaceOptions {
        NamespaceOptions(
            mode: durable ? .durable : guarded ? .guarded : nil,
            isPersistent: persistent,
            byteLimit: bounds?.limit?.bytes,
            group: bounds?.group?.id,
            history: history,
            isReplicated: replicated,
            isLocal: local
        )
    }
}

/// How large a namespace may become, and whose it is besides: what those commands take whose own options are not called
/// so.
struct CreationBounds {
    let limit: SizeArgument?
    let group: GroupArgument?
}

extension ArgumentHelp {
    static let limit: ArgumentHelp = """
        <size> If it is created: let it take up no more than so many bytes (512M, 4G; from 16M to 64G). One that \
        exists must be so.
        """

    static let group: ArgumentHelp = "<group> If it is created: let this group, a name or a number, use it too."
}
