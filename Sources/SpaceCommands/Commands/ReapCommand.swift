import CommandWords
import SharedSpace

/// The command `space reap`.
struct ReapCommand: ParsableCommand {
    static let commandName = "reap"
    static let configuration = CommandConfiguration(
        abstract: "Delete the namespaces that no living process owns, and print their names.",
        discussion: """
            With --follow it stays, and deletes them as processes exit, until a signal. Nothing to delete is no error. \
            A damaged namespace is named on standard error, and stays until 'space delete'.

            EXAMPLES:
              space reap
              space reap --follow
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "Stay, and delete namespaces as their owners exit.")
    var follow = false

    func run() throws {
        let space = try common.space(mustExist: true)
        if follow { return try follow(space) }
        let survey = try space.survey()
        try Output.print(lines: survey.deleted.lazy.map(PeopleText.escaped))
        survey.tellOfDamage()
    }

    /// Deletes namespaces as their owners exit, and prints their names, until a signal.
    private func follow(_ space: Space) throws {
        let reaper = Reaper(space: space)
        var failure: (any Error)?
        var told: SpaceError.Code?
        reaper.run { error in
            // An error that stays the same is reported once.
            if told != error.code { Messages.print("space: \(error); it looks again every second") }
            told = error.code
        } onDeleted: { name in
            guard failure == nil else { return }
            do {
                // One name at a time, because the reader acts on each.
                let output = Output(isOfDeeds: true)
                output.append(line: PeopleText.escaped(name))
                try output.flush()
            } catch {
                failure = error
                reaper.stop()
            }
        }
        try Signals.check()
        if let failure { throw failure }
    }
}
