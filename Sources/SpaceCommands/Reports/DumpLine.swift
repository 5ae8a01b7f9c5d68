import SharedSpace

/// One line of a dump, whose fields are checked for their types as they are read.
struct DumpLine {
    let record: Record
    /// Where the line stands, for messages.
    let what: String

    subscript(_ key: String) -> Value? { record[key] }

    func bad(_ reason: String) -> CommandFailure { .badData("\(what): \(reason)") }

    func string(_ key: String) -> String? { record[key]?.text }

    func integer(_ key: String) throws -> Int {
        guard let number = record[key]?.number else { throw bad("\"\(key)\" is no integer") }
        return number
    }

    /// A value that is stored as it is; `nil` if it is missing.
    func value(_ key: String) throws -> Value? {
        guard let value = record[key] else { return nil }
        if let fault = value.depthFault { throw bad("\"\(key)\" \(fault)") }
        return value
    }

    func moment(_ key: String) throws -> Int64? {
        switch record[key] {
        case nil, .null?: nil
        case .int(let milliseconds)?: Int64(milliseconds)
        default: throw bad("\"\(key)\" is milliseconds since 1970, or null")
        }
    }

    /// A number of deliveries; 0 if the line has none.
    func deliveries() throws -> UInt32 {
        guard record["deliveries"] != nil else { return 0 }
        guard let number = UInt32(exactly: try integer("deliveries")) else {
            throw bad("\"deliveries\" is no number from 0 to \(UInt32.max)")
        }
        return number
    }

    /// When and by which process something was written, if the line says so.
    func origin() throws -> Origin {
        guard record["written"] != nil else { return .unknown }
        guard let seconds = UInt32(exactly: try integer("written") / 1000),
            let pid = Int32(exactly: try integer("writer")), pid > 0
        else { throw bad("\"written\" is milliseconds since 1970, and \"writer\" a process") }
        return Origin(pid: pid, seconds: seconds)
    }

    /// Whether the line is of something that lived as long as a process.
    func endsWithProcess() throws -> Bool {
        guard record["session"] != nil else { return false }
        _ = try integer("session")
        return true
    }

    /// The name of a shared object.
    func name() throws -> String {
        guard let name = string("name"), (1...Limits.objectNameBytes).contains(name.utf8.count) else {
            throw bad("\"name\" is no string of 1 to \(Limits.objectNameBytes) bytes")
        }
        return name
    }

    /// The tuple of a line of this kind.
    func tuple(of kind: String) throws -> Tuple {
        guard let value = record["tuple"] else { throw bad("the \(kind) has no tuple") }
        do {
            switch value {
            case .array(let fields): return try Tuple(checking: fields)
            case .object(let record): return try Tuple(checking: record)
            default: throw bad("a tuple is an array or an object")
            }
        } catch let error as TupleCodingError {
            throw bad("\(error)")
        }
    }
}
