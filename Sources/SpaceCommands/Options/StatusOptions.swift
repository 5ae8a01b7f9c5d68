import ArgumentParser

/// `-E N`.
struct StatusOptions: ParsableArguments {
    @Option(
        name: .customShort("E"),
        help: ArgumentHelp("Exit with this status instead of 1 when nothing was obtained.", valueName: "status")
    )
    var nothing: UInt8?

    /// What a command throws that obtained nothing; it prints no message, like grep(1).
    var nothingObtained: CommandFailure {
        CommandFailure(nothing.map { ExitStatus(rawValue: Int32($0)) } ?? .nothing, nil)
    }
}
