/// A regular expression that a search can follow with a bounded number of steps: what it consists of.
indirect enum PatternNode: Sendable {
    case empty
    case one(ScalarTest)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case choice([PatternNode])
    case repetition(PatternNode, Int, Int?)
}

/// A place in a string that takes up no scalar.
enum PatternAssertion: Sendable {
    case start, end, endBeforeNewline, lineStart, lineEnd, wordBoundary, noWordBoundary
}

/// Reads the syntax of Swift's `Regex`, which has found it correct, and refuses what only a search without a bound can
/// follow.
struct PatternParser {
    /// A construct that is not supported.
    struct Unsupported: Error {
        let what: String
    }

    private struct Options {
        var ignoresCase = false
        var dotIsAll = false
        var isMultiline = false
        var isExtended = false
    }

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var options = Options()

    private init(_ source: String) { scalars = Array(source.unicodeScalars) }

    static func parse(_ source: String) throws(Unsupported) -> PatternNode {
        var parser = PatternParser(source)
        let node = try parser.choice()
        guard parser.index == parser.scalars.count else { throw Unsupported(what: "a ) without its (") }
        return node
    }

    private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private func peek(_ offset: Int) -> Unicode.Scalar? {
        index + offset < scalars.count ? scalars[index + offset] : nil
    }

    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard scalars[index...].starts(with: wanted) else { return false }
        index += wanted.count
        return true
    }

    // MARK: Structure

    private mutating func choice() throws(Unsupported) -> PatternNode {
        var choices = [try sequence()]
        while next == "|" {
            index += 1
            choices.append(try sequence())
        }
        return choices.count == 1 ? choices[0] : .choice(choices)
    }

    private mutating func sequence() throws(Unsupported) -> PatternNode {
        var nodes: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            if options.isExtended, skipsBlank() { continue }
            guard let atom = try atom() else { continue }
            nodes.append(try quantified(atom))
        }
        return nodes.count == 1 ? nodes[0] : nodes.isEmpty ? .empty : .sequence(nodes)
    }

    /// In an extended expression: skips blanks, or a comment to the end of its line.
    private mutating func skipsBlank() -> Bool {
        guard let scalar = next else { return false }
        if scalar.properties.isWhitespace {
            index += 1
            return true
        }
        guard scalar == "#" else { return false }
        while let scalar = next, !ScalarSet.isNewline(scalar) { index += 1 }
        return true
    }

    private mutating func quantified(_ atom: PatternNode) throws(Unsupported) -> PatternNode {
        var node = atom
        while true {
            while options.isExtended, skipsBlank() {}
            let bounds: (Int, Int?)
            switch next {
            case "*"?: bounds = (0, nil)
            case "+"?: bounds = (1, nil)
            case "?"?: bounds = (0, 1)
            case "{"?:
                guard let (least, most, end) = counted() else { return node }
                bounds = (least, most)
                index = end - 1
            default: return node
            }
            index += 1
            if next == "+" { throw Unsupported(what: "a possessive quantifier (…+)") }
            // Whether it is eager or not makes no difference to whether there is a match.
            if next == "?" { index += 1 }
            node = .repetition(node, bounds.0, bounds.1)
        }
    }

    /// Reads {n}, {n,}, {,m} or {n,m}, and where it ends.
    private func counted() -> (Int, Int?, Int)? {
        var place = index + 1
        func number() -> Int? {
            var digits = ""
            while place < scalars.count, ("0"..."9").contains(scalars[place]) {
                digits.unicodeScalars.append(scalars[place])
                place += 1
            }
            return Int(digits)
        }
        let least = number()
        var most = least
        if place < scalars.count, scalars[place] == "," {
            place += 1
            most = number()
            if least == nil, most == nil { return nil }
        } else if least == nil {
            return nil
        }
        guard place < scalars.count, scalars[place] == "}" else { return nil }
        return (least ?? 0, most, place + 1)
    }

    // MARK: Atoms

    /// Reads an atom; `nil` for what stands for nothing, such as options.
    private mutating func atom() throws(Unsupported) -> PatternNode? {
        guard let scalar = next else { return nil }
        index += 1
        switch scalar {
        case "(": return try group()
        case "[": return .one(test(try characterClass()))
        case ".": return .one(test(options.dotIsAll ? .anything : .inverted(.newline)))
        case "^": return .assertion(options.isMultiline ? .lineStart : .start)
        case "$": return .assertion(options.isMultiline ? .lineEnd : .end)
        case "\\": return try escape()
        default: return .one(test(.scalar(scalar)))
        }
    }

    private func test(_ set: ScalarSet) -> ScalarTest { ScalarTest(set, ignoresCase: options.ignoresCase) }

    private mutating func group() throws(Unsupported) -> PatternNode? {
        let outer = options
        var restores = true
        defer { if restores { options = outer } }
        if next == "*" { throw Unsupported(what: "a verb (*…)") }
        if next == "?" {
            index += 1
            if take("#") {
                while next != nil, next != ")" { index += 1 }
                index += 1
                return nil
            }
            for (text, what) in [
                ("=", "a look-ahead (?=…)"), ("!", "a look-ahead (?!…)"), ("<=", "a look-behind (?<=…)"),
                ("<!", "a look-behind (?<!…)"), (">", "an atomic group (?>…)"), ("|", "a branch reset (?|…)"),
                ("(", "a condition (?(…)…)"), ("R", "a recursion (?R)"), ("&", "a recursion (?&…)"),
                ("P>", "a recursion (?P>…)"), ("P=", "a back reference (?P=…)"), ("C", "a callout"),
                ("~", "an absence (?~…)"), ("*", "a look-around (?*…)"),
            ] where take(text) { throw Unsupported(what: what) }
            if take("<") || take("P<") || take("'") {
                while let scalar = next, scalar != ">", scalar != "'" {
                    if scalar == "-" { throw Unsupported(what: "a balancing group (?<…-…>)") }
                    index += 1
                }
                index += 1
            } else if !take(":") {
                guard try readOptions() else {
                    // The options hold to the end of the enclosing group.
                    restores = false
                    return nil
                }
            }
        }
        let node = try choice()
        guard next == ")" else { throw Unsupported(what: "a group without its end") }
        index += 1
        return node
    }

    /// Reads options; the result is whether a group follows (`:`), or only the end (`)`).
    private mutating func readOptions() throws(Unsupported) -> Bool {
        var isOn = true
        if next == "^" { throw Unsupported(what: "the option ^") }
        while let scalar = next {
            index += 1
            switch scalar {
            case "-": isOn = false
            case "i": options.ignoresCase = isOn
            case "s": options.dotIsAll = isOn
            case "m": options.isMultiline = isOn
            case "x": options.isExtended = isOn
            case ":": return true
            case ")": return false
            default: throw Unsupported(what: "the option \(scalar)")
            }
        }
        throw Unsupported(what: "options without an end")
    }

    // MARK: Escapes

    private mutating func escape() throws(Unsupported) -> PatternNode? {
        guard let scalar = next else { throw Unsupported(what: "a \\ at the end") }
        switch scalar {
        case "b": return assertion(.wordBoundary)
        case "B": return assertion(.noWordBoundary)
        case "A": return assertion(.start)
        case "z": return assertion(.end)
        case "Z": return assertion(.endBeforeNewline)
        case "R":
            index += 1
            let pair = PatternNode.sequence([.one(test(.scalar("\r"))), .one(test(.scalar("\n")))])
            return .choice([pair, .one(test(.newline))])
        case "Q":
            index += 1
            var nodes: [PatternNode] = []
            while index < scalars.count, !take("\\E") {
                nodes.append(.one(test(.scalar(scalars[index]))))
                index += 1
            }
            return nodes.isEmpty ? nil : nodes.count == 1 ? nodes[0] : .sequence(nodes)
        case "E":
            index += 1
            return nil
        default: return .one(test(try escapedSet()))
        }
    }

    private mutating func assertion(_ assertion: PatternAssertion) -> PatternNode {
        index += 1
        return .assertion(assertion)
    }

    /// Reads what follows a backslash, in a class or outside of one.
    private mutating func escapedSet() throws(Unsupported) -> ScalarSet {
        guard let scalar = next else { throw Unsupported(what: "a \\ at the end") }
        index += 1
        switch scalar {
        case "d": return .digit
        case "D": return .inverted(.digit)
        case "w": return .word
        case "W": return .inverted(.word)
        case "s": return .whitespace
        case "S": return .inverted(.whitespace)
        case "h": return .horizontalSpace
        case "H": return .inverted(.horizontalSpace)
        case "v": return .newline
        case "V", "N": return .inverted(.newline)
        case "p": return try property()
        case "P": return .inverted(try property())
        case "t": return .scalar("\t")
        case "n": return .scalar("\n")
        case "r": return .scalar("\r")
        case "f": return .scalar("\u{0C}")
        case "a": return .scalar("\u{07}")
        case "e": return .scalar("\u{1B}")
        case "x": return try number(digits: 1...2)
        case "u": return try number(digits: 4...4)
        case "U": return try number(digits: 8...8)
        case "0"..."9": throw Unsupported(what: "a back reference or an octal number (\\\(scalar))")
        case "a"..."z", "A"..."Z": throw Unsupported(what: "\\\(scalar)")
        default: return .scalar(scalar)
        }
    }

    private mutating func number(digits: ClosedRange<Int>) throws(Unsupported) -> ScalarSet {
        var text = ""
        if next == "{" {
            index += 1
            while let scalar = next, scalar != "}" {
                text.unicodeScalars.append(scalar)
                index += 1
            }
            index += 1
        } else {
            while text.count < digits.upperBound, let scalar = next, scalar.properties.isASCIIHexDigit {
                text.unicodeScalars.append(scalar)
                index += 1
            }
        }
        guard let value = UInt32(text, radix: 16), let scalar = Unicode.Scalar(value) else {
            throw Unsupported(what: "the number \(text)")
        }
        return .scalar(scalar)
    }

    private mutating func property() throws(Unsupported) -> ScalarSet {
        guard next == "{" else { throw Unsupported(what: "\\p without {…}") }
        index += 1
        var name = ""
        while let scalar = next, scalar != "}" {
            name.unicodeScalars.append(scalar)
            index += 1
        }
        index += 1
        var isInverted = false
        if name.hasPrefix("^") {
            isInverted = true
            name.removeFirst()
        }
        guard let set = ScalarSet.named(name) else { throw Unsupported(what: "\\p{\(name)}") }
        return isInverted ? .inverted(set) : set
    }

    // MARK: Classes

    private mutating func characterClass() throws(Unsupported) -> ScalarSet {
        var isInverted = false
        if next == "^" {
            isInverted = true
            index += 1
        }
        var operands: [(operation: String, sets: [ScalarSet])] = [("", [])]
        var isFirst = true
        while true {
            guard let scalar = next else { throw Unsupported(what: "a class without its end") }
            if scalar == "]", !isFirst { break }
            isFirst = false
            if let operation = ["&&", "--", "~~"].first(where: { take($0) }) {
                operands.append((operation, []))
                continue
            }
            if options.isExtended, scalar.properties.isWhitespace {
                index += 1
                continue
            }
            operands[operands.count - 1].sets.append(try member())
        }
        index += 1
        var set = ScalarSet.union(operands[0].sets)
        for (operation, sets) in operands.dropFirst() {
            let other = ScalarSet.union(sets)
            switch operation {
            case "&&": set = .intersection(set, other)
            case "--": set = .intersection(set, .inverted(other))
            default: set = .union([.intersection(set, .inverted(other)), .intersection(other, .inverted(set))])
            }
        }
        return isInverted ? .inverted(set) : set
    }

    private mutating func member() throws(Unsupported) -> ScalarSet {
        if take("[:") { return try posixSet() }
        if next == "[" {
            index += 1
            return try characterClass()
        }
        let set = try single()
        guard case .range(let first) = set, first.count == 1, next == "-", let end = peek(1), end != "]", end != "-",
            end != "["
        else { return set }
        index += 1
        guard case .range(let last) = try single(), last.count == 1, first.lowerBound <= last.lowerBound else {
            throw Unsupported(what: "a range of more than two characters")
        }
        return .range(first.lowerBound...last.lowerBound)
    }

    private mutating func single() throws(Unsupported) -> ScalarSet {
        guard let scalar = next else { throw Unsupported(what: "a class without its end") }
        index += 1
        guard scalar == "\\" else { return .scalar(scalar) }
        switch next {
        case "b"?:
            index += 1
            return .scalar("\u{08}")
        case "Q"?, "E"?, "R"?: throw Unsupported(what: "\\Q, \\E or \\R in a class")
        default: return try escapedSet()
        }
    }

    private mutating func posixSet() throws(Unsupported) -> ScalarSet {
        var name = ""
        while let scalar = next, scalar != ":" {
            name.unicodeScalars.append(scalar)
            index += 1
        }
        guard take(":]") else { throw Unsupported(what: "[:\(name)") }
        let isInverted = name.hasPrefix("^")
        if isInverted { name.removeFirst() }
        guard let set = ScalarSet.named(name) else { throw Unsupported(what: "[:\(name):]") }
        return isInverted ? .inverted(set) : set
    }
}
