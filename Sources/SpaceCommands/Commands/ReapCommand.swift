import CommandWords
import SharedSpace

/// The command `space reap`.
struct ReapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reap",
        abstract: "Delete the namespaces that no living process owns, and print their names.",
        discussion: """
            With --follow it stays, and deletes them as processes exit, until SIGTERM. Nothing to delete is no error. \
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
        if follow { return try ReapFollowing.run(space) }
        let survey = try space.survey()
        try Output.print(lines: survey.deleted.lazy.map(PeopleText.escaped))
        survey.tellOfDamage()
    }
}
