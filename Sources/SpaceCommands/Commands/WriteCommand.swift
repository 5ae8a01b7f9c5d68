import CommandWords
import SharedSpace

/// The command `space write NS TUPLE…`.
struct WriteCommand: ParsableCommand {
    static let commandName = "write"
    static let configuration = CommandConfiguration(
        abstract: "Write tuples, all or nothing.",
        isEssential: true,
        discussion: """
            Creates the namespace if need be. A tuple is a JSON array of fields or a JSON object (a record); '-' stands for \
            JSON lines on standard input. With --strings the words are the fields of one tuple, strings as they stand. Prints \
            nothing, unless --print-id.

            EXAMPLES:
              space write jobs '["resize", 42, "cat.png"]' '{"kind": "note"}'
              space write jobs --arg file "$f" '["resize", 42, $file]'
              space write jobs --strings resize "$f"
              space write jobs --expires 10m '["code", 4711]'
              find . -name '*.png' | jq -R '["resize", .]' -c | space write jobs -
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(help: .limit) var limit: SizeArgument?
    @Option(help: .group) var group: GroupArgument?
    @OptionGroup var end: EndOptions
    @OptionGroup var arguments: JSONArguments

    @Flag(help: "The words after NS are the fields of one tuple: strings, as they stand.")
    var strings = false

    @Flag(name: .customLong("print-id"), help: "Print the id of each tuple.")
    var printsIDs = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<tuple> Tuples in JSON form; '-': standard input.")
    var tuples: [String]

    func validate() throws {
        if !strings, tuples.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input ('-') can be read only once")
        }
    }

    func run() throws {
        let tuples = try parsed()
        let lifetime = try end.lifetime(owner)
        if printsIDs { try Output().checkTaken() }
        let ids = try NamespaceAccess(common, namespace).use(
            for: owner,
            creating: creation,
            bounds: CreationBounds(limit: limit, group: group)
        ) {
            namespace in
            try namespace.write(contentsOf: tuples, expires: end.expires, lifetime: lifetime)
        }
        if printsIDs { try Output.print(lines: ids.lazy.map { "\($0.rawValue)" }) }
    }

    /// What to write instead of a word that is no tuple: one of the words, as the fields of a tuple.
    private func advice(for word: String) -> String? {
        // A word that begins as a tuple has a mistake in it, which the error names.
        guard !word.hasPrefix("["), !word.hasPrefix("{"), !tuples.contains("-") else { return nil }
        let fields = tuples.map { (try? Value(json: $0)) ?? .string($0) }
        let tuple = JSONText.quotedForShell(Tuple(fields: fields).json)
        return "a tuple is a JSON array or object: write \(tuple.utf8.count > 80 ? "one in brackets" : tuple), or give "
            + "--strings before the words that are its fields"
    }

    /// The tuples of the command line and of standard input, in their order.
    ///
    /// They are read to the end before the namespace is opened: one bad line writes nothing, and a slow writer of the
    /// pipe blocks no other process.
    private func parsed() throws -> [Tuple] {
        if strings { return [Tuple(fields: tuples.map { .string($0) })] }
        let values = try arguments.resolved()
        var parsed: [Tuple] = []
        for (position, text) in tuples.enumerated() {
            guard text == "-" else {
                let what = tuples.count == 1 ? "the tuple" : "tuple \(position + 1)"
                parsed.append(try JSONText.tuple(text, what: what, arguments: values, advice: advice(for: text)))
                continue
            }
            var input = Input()
            while let line = try input.next() {
                parsed.append(try JSONText.tuple(line, what: "standard input, line \(input.line)"))
            }
        }
        return parsed
    }
}
