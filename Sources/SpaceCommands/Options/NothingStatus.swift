import CommandWords

// Options that many commands have are properties of each command, and share their name and help: the parser makes four
// searches through all types of the program for each type of option group, a twentieth of a short command's start. A
// group is for options that belong together and have code of their own.

/// `-E N`: the status of a command that has obtained nothing.
struct NothingStatus: ExpressibleByArgument {
    let rawValue: UInt8

    init?(argument: String) {
        guard let rawValue = UInt8(argument) else { return nil }
        self.rawValue = rawValue
    }
}

extension NothingStatus? {
    /// The error of a command that obtained nothing; it has no message, like grep(1).
    var nothingObtained: CommandFailure { nothingObtained(nil) }

    /// The error of a command that obtained nothing, with the reason.
    func nothingObtained(_ reason: String?) -> CommandFailure {
        CommandFailure(map { ExitStatus(rawValue: Int32($0.rawValue)) } ?? .nothing, reason, isOfNothing: true)
    }
}

extension NameSpecification {
    static let nothing = NameSpecification.customShort("E")
}

extension ArgumentHelp {
    static let nothing: ArgumentHelp = "<status> Exit with this status instead of 1 when nothing was obtained."
}
