@preconcurrency import Glibc
import SharedSpace

/// What a command learns of the item or tuple that it works on, from its environment.
struct CommandFacts {
    private var variables: [(name: String, value: String)]

    init(_ namespace: String, root: String, id: UInt64, deliveries: Int, fencing: UInt64) {
        variables = [
            ("ROOT", root), ("NAMESPACE", namespace), ("ID", "\(id)"),
            ("DELIVERIES", "\(deliveries)"), ("FENCING", "\(fencing)"),
        ]
    }

    /// The longest tuple, as JSON in bytes, that is given in variables: the system limits the size of all of them
    /// together, and a command's words count too (execve(2)).
    private static let longestTuple = 32 << 10

    /// Adds the tuple as JSON, and each of its fields by its number from 0, or by its name in a record, as `--field`
    /// names them.
    ///
    /// Strings are given as they are, and everything else as JSON. A field whose name can't be part of a variable's, or
    /// whose text has a NUL, is left out, and of a long tuple everything is; standard input has it all.
    mutating func add(_ tuple: Tuple) {
        let json = tuple.json
        guard json.utf8.count <= Self.longestTuple else { return }
        variables.append(("TUPLE", json))
        let names = tuple.record?.names ?? tuple.fields.indices.map(String.init)
        for (name, value) in zip(names, tuple.fields) where !name.isEmpty && name.utf8.allSatisfy(\.isOfWord) {
            let text = if case .string(let text) = value { text } else { value.json }
            if !text.utf8.contains(0) { variables.append((Self.field + name, text)) }
        }
    }

    /// Adds the queue of the item, and the ticket of its worker.
    mutating func add(queue: String, ticket: UInt64) {
        variables += [("QUEUE", queue), ("HOLD", "\(ticket)")]
    }

    private static let prefix = "SHARED_SPACE_"
    private static let field = "FIELD_"

    /// Sets the variables for the commands that this process starts from now on, and none of an earlier tuple or item.
    func publish() {
        let fields = Self.names { $0.hasPrefix(Self.prefix + Self.field) }
        for name in fields { unsetenv(name) }
        for name in ["TUPLE", "QUEUE", "HOLD"] { unsetenv(Self.prefix + name) }
        for (name, value) in variables { setenv(Self.prefix + name, value, 1) }
    }

    /// The names in the environment for which `isWanted` is true.
    private static func names(_ isWanted: (Substring) -> Bool) -> [String] {
        var names: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            let name = text.prefix { $0 != "=" }
            if isWanted(name) { names.append(String(name)) }
            next = next.successor()
        }
        return names
    }
}
