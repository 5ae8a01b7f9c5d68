import CommandWords
import SharedSpaceObjects

/// The command `space items NS NAME [VERB …]`.
struct ItemsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "items",
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

    @Option(help: ArgumentHelp("If it is made: the type of its elements.", valueName: "type"))
    var type: String?

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

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
        let edit = try Edit(verb, words, arguments.resolved())
        switch verb {
        case .append?, .insert?:
            let isAdded = try access.use(for: owner, creating: creation) { namespace in
                try edit.add(to: namespace, name, type: type)
            }
            if !isAdded { throw status.nothingObtained }
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
                guard let set = try namespace.anyOrderedSet(name)?.set else { throw status.nothingObtained }
                guard let lines = try edit.read(set, raw) else { throw status.nothingObtained }
                for line in lines { try Output.print(line: line) }
            }
        case .remove?, .move?, .replace?, .sort?:
            try access.use(for: owner) { namespace in
                guard let (set, details) = try namespace.anyOrderedSet(name),
                    try edit.carryOut(on: set, details.elementType)
                else { throw status.nothingObtained }
            }
        }
    }

    /// What the words ask for, decoded before anything is opened.
    private struct Edit {
        let verb: Verb?
        var index = 0
        var values: [Value] = []

        init(_ verb: Verb?, _ words: [String], _ arguments: [String: Value]) throws {
            self.verb = verb
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

        /// Adds the values, and makes the set if need be.
        func add(to namespace: Namespace, _ name: String, type: String?) throws -> Bool {
            let (set, elementType): (SharedOrderedSet<Value>, String)
            if let found = try namespace.anyOrderedSet(name) {
                (set, elementType) = (found.set, found.details.elementType)
                if let type, type != elementType {
                    throw CommandFailure.badData(
                        "\(name.quotedForPeople) has elements of type \(elementType.quotedForPeople), not "
                            + type.quotedForPeople
                    )
                }
            } else {
                elementType = type ?? values.first?.swiftType ?? "Value"
                try check(values[...], elementType)
                set = try namespace.orderedSet(name, of: Value.self, schema: elementType)
            }
            try check(values[...], elementType)
            if verb == .insert { return try set.insert(contentsOf: values, at: index) > 0 }
            return try set.append(contentsOf: values) > 0
        }

        /// Throws `CommandFailure` (bad data) for a value that does not decode as one of Swift's plain types.
        private func check(_ values: ArraySlice<Value>, _ elementType: String) throws {
            for value in values where !value.fits(elementType) {
                throw CommandFailure.badData(
                    "the ordered set has elements of type \(elementType), and \(value.json) is none"
                )
            }
        }

        /// The lines to print, or `nil` if what is asked for is not there.
        func read(_ set: SharedOrderedSet<Value>, _ raw: Bool) throws -> [PrintedLine]? {
            switch verb {
            case .index?: return try set.firstIndex(of: values[0]).map { [.text("\($0)")] }
            default: return try set.elements(in: index..<index + 1).first.map { [PrintOptions.line($0, raw: raw)] }
            }
        }

        /// Carries out an edit that adds no element; returns `false` if an element is not there.
        func carryOut(on set: SharedOrderedSet<Value>, _ elementType: String) throws -> Bool {
            if verb == .replace { try check(values.dropFirst(), elementType) }
            switch verb {
            case .remove?:
                return try set.subtract(values) > 0
            case .sort?:
                try set.sort()
                return true
            default:
                // One step: the element is looked for and moved or replaced in the same transaction.
                return try set.namespace.repeatableTransaction { transaction in
                    let set = try transaction.orderedSet(set)
                    guard let place = try set.firstIndex(of: values[0]) else { return false }
                    if verb == .move {
                        try set.move(from: place, to: index)
                    } else {
                        try set.replace(at: place, with: values[1])
                    }
                    return true
                }
            }
        }
    }
}

extension Value {
    /// The plain type of Swift that has such values, or `Value`.
    fileprivate var swiftType: String {
        switch self {
        case .string: "String"
        case .int: "Int"
        case .double: "Double"
        case .bool: "Bool"
        default: "Value"
        }
    }

    /// Whether the value decodes as a type with this name; of types that are not plain, only their programs know.
    fileprivate func fits(_ type: String) -> Bool {
        switch type {
        case "String", "Int", "Double", "Bool": swiftType == type
        default: true
        }
    }
}
