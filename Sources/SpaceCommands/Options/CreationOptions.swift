import ArgumentParser
import SharedSpace

/// The options with which a namespace is created.
struct CreationOptions: ParsableArguments {
    @Flag(help: "If it is created: sync every commit to the disk. One that exists must be so.")
    var durable = false

    @Flag(help: "If it is created: keep stray pointers of its users away from the data. One that exists must be so.")
    var guarded = false

    @Flag(help: "If it is created: keep it when its last owner has exited. One that exists must be so.")
    var persistent = false

    @Option(
        help: ArgumentHelp(
            "If it is created: keep so many changes, and bytes of them, also without a watcher. One that exists must be so.",
            valueName: "changes[,bytes]"
        )
    )
    var history: HistoryArgument?

    mutating func validate() throws {
        if durable && guarded { throw ValidationError("--durable and --guarded exclude each other") }
    }

    var options: NamespaceOptions {
        NamespaceOptions(
            mode: durable ? .durable : guarded ? .guarded : nil,
            isPersistent: persistent,
            history: history?.history
        )
    }
}
