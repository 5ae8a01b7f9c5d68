import ArgumentParser

/// `-E N`.
struct StatusOptions: ParsableArguments {
    @Option(
        name: .customShort("E"),
        help: ArgumentHelp("Exit with this status instead of 1 when nothing was obtained.", valueName: "status")
    )
    var nothing: UInt8?

    /// The error of a command that obtained nothing; it has no message, like grep(1).
    var nothingObtained: CommandFailure {
        CommandFailure(nothing.map { ExitStatus(rawValue: Int32($0)) } ?? .nothing, nil)
    }
}
