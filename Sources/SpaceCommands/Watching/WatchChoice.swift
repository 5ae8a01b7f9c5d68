import CommandWords
import SharedSpace

/// The options that choose which changes are delivered.
struct WatchChoice: ParsableArguments {
    @Option(help: "<path> A cell, or with a path a part of its value: user.name.")
    var key: String?

    @Flag(name: .customLong("all-keys"), help: "All cells.")
    var allKeys = false

    @Option(help: "<pattern> Cells whose names match: '*' any text, '?' one character.")
    var keys: String?

    @Option(help: "<name> Notifications of this name.")
    var post: String?

    @Option(help: "<name> The ordered set, or the dictionary, of this name.")
    var collection: String?

    @Option(help: "<name> The coming and going of the responders to this name.")
    var responder: String?

    @Option(help: "<name> The lock, semaphore, election, counter or latch of this name.")
    var object: String?

    @Option(help: "<pattern> Notifications whose names match, as the shell matches: 'build.*'.")
    var posts: String?

    @Option(help: "<pid> Notifications that this process posts.")
    var pid: Int32?

    @Option(
        help: "<events> Only these, separated by commas: \(eventNames.joined(separator: ", ")).",
        completion: .list(eventNames)
    )
    var events: String?

    func validate() throws {
        if [key != nil, keys != nil, allKeys].count(where: { $0 }) > 1 {
            throw ValidationError("--key, --keys and --all-keys exclude each other")
        }
        if key == "" { throw ValidationError("--key needs a cell's name") }
        if post == "" { throw ValidationError("--post needs a name") }
        if responder == "" { throw ValidationError("--responder needs a name") }
        if object == "" { throw ValidationError("--object needs a name") }
        if posts == "" { throw ValidationError("--posts needs a pattern") }
        if posts != nil, post != nil || pid != nil { throw ValidationError("--posts excludes --post and --pid") }
        if collection == "" { throw ValidationError("--collection needs a name") }
        if let pid, pid < 1 { throw ValidationError("--pid is a process's number") }
        _ = try kinds()
    }

    /// Whether an option narrows the choice; the template is not an option.
    var isNarrow: Bool { namesSome || events != nil }

    /// Whether an option names what is wanted.
    private var namesSome: Bool {
        key != nil || keys != nil || allKeys || post != nil || posts != nil || pid != nil || collection != nil
            || responder != nil || object != nil
    }

    /// The filter of the options and the template.
    func filter(_ template: Template?) throws -> ChangeFilter {
        var choice = ChangeChoice()
        choice.tuples = template
        (choice.key, choice.keys, choice.allKeys) = (key, keys, allKeys)
        (choice.post, choice.posts, choice.pid) = (post, posts, pid)
        (choice.collection, choice.responder, choice.object) = (collection, responder, object)
        choice.events = try kinds()
        return choice.filter
    }

    private func kinds() throws -> Set<ChangeKind>? {
        guard let events else { return nil }
        return Set(
            try events.split(separator: ",", omittingEmptySubsequences: false).map { word in
                guard let kind = ChangeKind.allCases.first(where: { "\($0)" == word }) else {
                    throw ValidationError("'\(PeopleText.escaped(String(word)))' is no event")
                }
                return kind
            }
        )
    }
}

private let eventNames = ChangeKind.allCases.map { "\($0)" }
