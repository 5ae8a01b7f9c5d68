/// A step of a transaction that is data, as `space txn` and the C library read it: an operation with its arguments, as an
/// array or as an object.
///
///     ["write", ["done", 7]]      {"op": "write", "tuple": ["done", 7], "expires": "5s"}
package struct TransactionStep {
    private enum Operation {
        case write(Tuple, expires: Duration?)
        case take(Template)
        case takeAll(Template)
        case read(Template)
        case count(Template)
        case move(Template, Tuple)
        case set(String, Value, ifEquals: Value?, ifAbsent: Bool)
        case get(String)
        case unset(String)
        case increment(String, Int)
        case post(String, Value)
        case complete(UInt64)
        case release(UInt64)
    }

    private let operation: Operation
    /// Whether finding nothing is a result, not the end of the transaction.
    private let isOptional: Bool
    private let what: String

    /// The names of an operation's arguments, in the order of the array form.
    private static func parameters(of name: String) -> (required: [String], more: [String])? {
        switch name {
        case "write": (["tuple"], ["expires"])
        case "take", "read", "take-all": (["template"], [])
        case "count": ([], ["template"])
        case "move": (["from", "to"], [])
        case "set": (["key", "value"], ["if_equals", "if_absent"])
        case "get", "unset": (["key"], [])
        case "incr": (["key"], ["by"])
        case "post": (["name"], ["value"])
        case "complete", "release": (["id"], [])
        default: nil
        }
    }

    private static func unknown(_ name: String) -> String {
        "there is no operation \(name.quotedForPeople): there are write, take, take-all, read, count, move, set, get, unset, "
            + "incr, post, complete and release"
    }

    /// What was to be a step is none.
    package struct Fault: Error {
        package let reason: String
    }

    /// Reads a step; `what` names it in errors.
    package init(_ step: Value, what: String) throws(Fault) {
        self.what = what
        var arguments: [String: Value] = [:]
        let name: String
        func bad(_ reason: String) -> Fault { Fault(reason: "\(what): \(reason)") }
        switch step {
        case .array(let values):
            guard case .string(let first)? = values.first else { throw bad("it begins with no operation's name") }
            name = first
            guard let (required, more) = Self.parameters(of: name) else { throw bad(Self.unknown(name)) }
            let names = required + more
            guard values.count - 1 <= names.count else {
                throw bad("\(name) has no more than \(names.count) arguments")
            }
            for (key, value) in zip(names, values.dropFirst()) { arguments[key] = value }
        case .object(let record):
            guard case .string(let op)? = record["op"] else { throw bad("it has no \"op\"") }
            name = op
            for (key, value) in record where key != "op" { arguments[key] = value }
        default: throw bad("an operation is an array or an object")
        }
        guard let (required, more) = Self.parameters(of: name) else {
            throw bad(Self.unknown(name))
        }
        switch arguments.removeValue(forKey: "optional") {
        case nil: isOptional = false
        case .bool(let value)?: isOptional = value
        default: throw bad("\"optional\" is true or false")
        }
        for key in required where arguments[key] == nil { throw bad("\(name) lacks \(key.quotedForPeople)") }
        if let other = arguments.keys.sorted().first(where: { !(required + more).contains($0) }) {
            throw bad("\(name) has no argument \(other.quotedForPeople)")
        }
        operation = try Self.operation(name, Arguments(values: arguments, what: what))
    }

    private static func operation(_ name: String, _ arguments: Arguments) throws(Fault) -> Operation {
        switch name {
        case "write": .write(try arguments.tuple("tuple"), expires: try arguments.duration("expires"))
        case "take": .take(try arguments.template("template"))
        case "take-all": .takeAll(try arguments.template("template"))
        case "read": .read(try arguments.template("template"))
        case "count": .count(arguments.values["template"] == nil ? .any : try arguments.template("template"))
        case "move": .move(try arguments.template("from"), try arguments.tuple("to"))
        case "set": try set(arguments)
        case "get": .get(try arguments.string("key"))
        case "unset": .unset(try arguments.string("key"))
        case "incr": .increment(try arguments.string("key"), try arguments.integer("by") ?? 1)
        case "post": .post(try arguments.string("name"), try arguments.value("value"))
        case "complete": .complete(try arguments.id("id"))
        default: .release(try arguments.id("id"))
        }
    }

    private static func set(_ arguments: Arguments) throws(Fault) -> Operation {
        let ifAbsent = try arguments.flag("if_absent")
        var expected = arguments.values["if_equals"] == nil ? nil : try arguments.value("if_equals")
        // In the array form null is given in place of the one argument to give the other.
        if ifAbsent, expected == .null { expected = nil }
        if ifAbsent, expected != nil { throw arguments.bad("if_absent", "excludes if_equals") }
        return .set(
            try arguments.string("key"),
            try arguments.value("value"),
            ifEquals: expected,
            ifAbsent: ifAbsent
        )
    }

    /// The number of the claim that the operation ends, which is looked up before the transaction.
    package var claimNumber: UInt64? {
        switch operation {
        case .complete(let number), .release(let number): number
        default: nil
        }
    }

    /// Carries out steps in one transaction, all or none.
    ///
    /// - Returns: Their results, in the same order.
    /// - Throws: `NothingFound` if one of them finds nothing and isn't optional; `claimLost` for a claim that no longer
    ///   exists; what a transaction throws.
    package static func run(_ steps: [TransactionStep], in namespace: Namespace) throws -> [Value] {
        let known = try namespace.claims(numbered: steps.compactMap(\.claimNumber))
        let claims = try steps.map { step in
            try step.claimNumber.map { number in
                try step.named { () throws(SpaceError) in try known(number, to: "run a transaction") }
            }
        }
        return try namespace.repeatableTransaction { t in
            var results: [Value] = []
            for (step, claim) in zip(steps, claims) { results.append(try step.run(t, claim: claim)) }
            return results
        }
    }

    private func run(_ t: borrowing Transaction, claim: HeldClaim?) throws -> Value {
        do {
            return try result(t, claim: claim)
        } catch let error as SpaceError {
            throw named(error)
        }
    }

    /// Runs `body` for the step, and adds the step's name to its error.
    private func named<R>(_ body: () throws(SpaceError) -> R) throws(SpaceError) -> R {
        do throws(SpaceError) { return try body() } catch { throw named(error) }
    }

    private func named(_ error: SpaceError) -> SpaceError {
        error.with(reason: "\(what): \(error.reason); nothing was changed")
    }

    private func result(_ t: borrowing Transaction, claim: HeldClaim?) throws -> Value {
        switch operation {
        case .write(let tuple, let expires):
            return .int(Int(clamping: try t.write(tuple: tuple, expires: expires).rawValue))
        case .take(let template): return try found(try t.takeIfExists(matching: template)?.value, template)
        case .takeAll(let template): return .array(try t.takeAll(matching: template).map(\.value))
        case .read(let template): return try found(try t.readIfExists(matching: template)?.value, template)
        case .count(let template): return .int(try t.count(matching: template))
        case .move(let from, let to):
            guard let taken = try t.takeIfExists(matching: from) else { return try found(nil, from) }
            // In a full namespace, too: one that is no larger needs no more room than there was.
            if to.encoded.count <= taken.encoded.count {
                try t.write(inPlaceOfTaken: to)
            } else {
                try t.write(tuple: to)
            }
            return taken.value
        case .set(let key, let value, let expected, let ifAbsent):
            if let expected { return try done(try t.set(key, value, ifEquals: expected), key) }
            if ifAbsent { return try done(try t.setIfAbsent(key, value), key) }
            return try t.set(key, value) ?? .null
        case .get(let key): return try found(try t.get(key), key)
        case .unset(let key): return try found(try t.unset(key), key)
        case .increment(let key, let amount): return .int(try t.increment(key, by: amount))
        case .post(let name, let value):
            try t.post(name, value)
            return .null
        case .complete, .release:
            guard let claim else { return .null }
            if case .complete = operation { try t.complete(claim) } else { try t.release(claim) }
            return claim.tuple.value
        }
    }

    /// There was nothing to take, or a cell was not as expected, so the transaction is undone.
    package struct NothingFound: Error {
        package let message: String
    }

    private func nothingFound(_ reason: String) -> NothingFound {
        NothingFound(message: "\(what): \(reason); nothing was changed")
    }

    private func found(_ tuple: Value?, _ template: Template) throws -> Value {
        if let tuple { return tuple }
        guard isOptional else { throw nothingFound("no tuple matches \(template.json.shortenedForPeople)") }
        return .null
    }

    private func found(_ value: Value?, _ key: String) throws -> Value {
        if let value { return value }
        guard isOptional else { throw nothingFound("there is no cell \(key.quotedForPeople)") }
        return .null
    }

    private func done(_ isDone: Bool, _ key: String) throws -> Value {
        guard isDone || isOptional else { throw nothingFound("the cell \(key.quotedForPeople) is not as expected") }
        return .bool(isDone)
    }

    /// An operation's arguments, each checked for its type.
    private struct Arguments {
        let values: [String: Value]
        let what: String

        func bad(_ key: String, _ reason: String) -> Fault {
            Fault(reason: "\(what): \(key.quotedForPeople) \(reason)")
        }

        /// The JSON of a template or a tuple, whose initializer checks it; `null` if it is missing.
        private func text(_ key: String) -> String { (values[key] ?? .null).json }

        /// A value; `null` if it is missing.
        func value(_ key: String) throws(Fault) -> Value {
            let value = values[key] ?? .null
            if let fault = value.depthFault { throw bad(key, fault) }
            return value
        }

        func string(_ key: String) throws(Fault) -> String {
            guard case .string(let text)? = values[key] else { throw bad(key, "is a string") }
            return text
        }

        func integer(_ key: String) throws(Fault) -> Int? {
            guard let value = values[key] else { return nil }
            guard case .int(let number) = value else { throw bad(key, "is an integer") }
            return number
        }

        func id(_ key: String) throws(Fault) -> UInt64 {
            guard let number = try integer(key).flatMap({ UInt64(exactly: $0) }) else {
                throw bad(key, "is the id of a claim")
            }
            return number
        }

        func flag(_ key: String) throws(Fault) -> Bool {
            guard let value = values[key] else { return false }
            guard case .bool(let flag) = value else { throw bad(key, "is true or false") }
            return flag
        }

        func duration(_ key: String) throws(Fault) -> Duration? {
            switch values[key] {
            case nil, .null?: return nil
            case .string(let text)?:
                guard let duration = DurationText.parse(text) else { throw bad(key, "is no duration") }
                return duration
            case .int(let seconds)? where seconds >= 0:
                return DurationText.parse("\(seconds)")
            default: throw bad(key, "is no duration")
            }
        }

        func template(_ key: String) throws(Fault) -> Template {
            do throws(TupleCodingError) {
                return try Template(json: text(key))
            } catch {
                throw Fault(reason: "\(what): \(key.quotedForPeople): \(error.descriptionOnOneLine)")
            }
        }

        func tuple(_ key: String) throws(Fault) -> Tuple {
            do throws(TupleCodingError) {
                return try Tuple(json: text(key))
            } catch {
                throw Fault(reason: "\(what): \(key): \(error.descriptionOnOneLine)")
            }
        }
    }
}

extension Tuple {
    /// The tuple as one value: an array of its fields, or the record's object.
    fileprivate var value: TupleCoding.Value { record.map { .object($0) } ?? .array(fields) }
}
