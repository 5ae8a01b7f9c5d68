import CommandWords
import SharedSpaceObjects

/// The command `space items NS NAME [VERB …]`.
struct ItemsCommand: ParsableCommand {
    static let commandName = "items"
    static let configuration = CommandConfiguration(
        abstract: "List and edit an ordered set.",
        discussion: """
            Without a verb it prints the elements, one JSON value a line. The verbs:

              append V…        add those that are not there, at the end
              insert INDEX V…  add those that are not there, at an index
              remove V…        remove them
              move V INDEX     move one, so that it stands at that index
              replace V NEW    replace one in its place
              at INDEX         print the element at an index
              index V          print an element's index
              sort             sort them in the order of JSON values

            append and insert make the set, and the namespace, if need be; --type names the type of its elements for Swift \
            (by default that of the first: String, Int, Double, Bool, and Value for any other). Each call is one step. The status \
            is 1 if nothing was added or removed, or an element or the set is not there. In a set that identifies its elements by key, \
            V is the key in remove, move and index, and only programs add elements. A dictionary's entries are cells: \
            space get NS NAME/KEY.

            EXAMPLES:
              space items party songs
              space items party songs append '"Blue"' '"Green"'
              space items party songs insert 0 '"Red"'
              space items party songs move '"Green"' 0
              space items party songs at 0
            """
    )

    enum Verb: String, CaseIterable, ExpressibleByArgument {
        case append, insert, remove, move, replace, at, index, sort
    }

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var arguments: JSONArguments
    @Flag(name: .raw, help: .raw) var raw = false

    @Option(help: "<type> If it is made: the type of its elements.")
    var type: String?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The name of the ordered set.", completion: .objects(.orderedSet))
    var name: String

    @Argument(help: "What to do with it.")
    var verb: Verb?

    @Argument(help: "An index, or values in JSON form, as the verb has it.")
    var words: [String] = []

    func validate() throws {
        let isRight =
            switch verb {
            case nil, .sort?: words.isEmpty
            case .append?, .remove?: !words.isEmpty
            case .insert?: words.count > 1
            case .move?, .replace?: words.count == 2
            case .at?, .index?: words.count == 1
            }
        guard isRight else {
            throw ValidationError(
                "'items \(namespace) \(name) \(verb?.rawValue ?? "")' has \(words.count) words after it"
            )
        }
        if type != nil, verb != .append, verb != .insert { throw ValidationError("--type is for append and insert") }
    }

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: .orderedSet)
        let words = try Words(verb, words, arguments.resolved())
        switch verb {
        case nil:
            let output = Output()
            try access.use { namespace in
                guard let set = try namespace.anyOrderedSet(name)?.set else { throw status.nothingObtained }
                try set.forEachElement { element in
                    try Signals.check()
                    try output.printWithoutWaiting(PrintOptions.line(element, raw: raw))
                }
            }
            try output.flush()
        case .at?, .index?:
            try access.use { namespace in
                guard let set = try namespace.anyOrderedSet(name)?.set, let line = try words.read(set, verb, raw) else {
                    throw status.nothingObtained
                }
                try Output.print(line: line)
            }
        case .append?: try edit(access, .append(words.values), creating: creation)
        case .insert?: try edit(access, .insert(words.values, at: words.index), creating: creation)
        case .remove?: try edit(access, .remove(words.values))
        case .move?: try edit(access, .move(words.values[0], to: words.index))
        case .replace?: try edit(access, .replace(words.values[0], with: words.values[1]))
        case .sort?: try edit(access, .sort)
        }
    }

    private func edit(
        _ access: NamespaceAccess,
        _ edit: OrderedSetEdit,
        creating creation: CreationOptions? = nil
    ) throws {
        let count = try access.use(for: owner, creating: creation) { namespace in
            try namespace.edit(orderedSet: name, edit, type: type)
        }
        if count == 0 { throw status.nothingObtained }
    }

    /// What the words say, decoded before anything is opened.
    private struct Words {
        var index = 0
        var values: [Value] = []

        init(_ verb: Verb?, _ words: [String], _ arguments: [String: Value]) throws {
            var words = words[...]
            switch verb {
            case .insert?, .at?: index = try Self.index(words.removeFirst())
            case .move?: index = try Self.index(words.removeLast())
            default: break
            }
            for word in words { values.append(try JSONText.value(word, what: "the element", arguments: arguments)) }
        }

        private static func index(_ word: String) throws -> Int {
            guard let index = Int(word), index >= 0 else {
                throw CommandFailure.usage("\(word.quotedForPeople) is no index: give a number from 0 on")
            }
            return index
        }

        /// The line to print, or `nil` if what is asked for is not there.
        func read(_ set: SharedOrderedSet<Value>, _ verb: Verb?, _ raw: Bool) throws -> PrintedLine? {
            guard verb == .index else {
                return try set.elements(in: index..<index + 1).first.map { PrintOptions.line($0, raw: raw) }
            }
            return try set.firstIndex(of: values[0]).map { .text("\($0)") }
        }
    }
}
