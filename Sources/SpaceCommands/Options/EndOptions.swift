import CommandWords
import SharedSpace

/// The options that say when something written ends by itself.
struct EndOptions: ParsableArguments {
    @Option(help: "<duration> It vanishes after this time; 0: accepted, never visible.")
    var expires: Duration?

    @Flag(help: "It vanishes when its owner process ends: --owner, the variable, or the session leader.")
    var session = false

    /// The lifetime that the options name, given those of the owner.
    ///
    /// - Throws: `CommandFailure` (usage) if `--session` is given and there is no owner.
    func lifetime(_ owner: OwnerOptions) throws -> Lifetime {
        guard session else { return .permanent }
        guard let pid = try owner.choice().pid else {
            throw CommandFailure.usage(
                "--session needs an owner process: name one with --owner PID, or with export "
                    + "\(OwnerOptions.variable)=$$ at the start of the script"
            )
        }
        return .process(pid)
    }
}
