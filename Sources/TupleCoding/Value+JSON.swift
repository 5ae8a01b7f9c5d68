// The JSON form of values and tuples.
//
// Numbers without a point or an exponent are integers, all others are doubles. Values that JSON lacks are objects with
// one name: {"$base64": "AP8="}, {"$uuid": "…"}, {"$double": "nan"|"inf"|"-inf"}. If a user's object has only one name
// and this begins with `$`, the name is written with another `$` before it.

/// What has a JSON form.
package protocol JSONConvertible {
    /// The JSON text, on one line; equal values give equal text.
    var json: String { get }
}

/// What is described by its JSON form.
package protocol JSONDescribed: JSONConvertible, CustomStringConvertible {}

extension JSONDescribed {
    /// The JSON form.
    public var description: String { json }
}

extension Value: CustomStringConvertible, JSONDescribed {
    /// Reads JSON text.
    ///
    /// - Parameters:
    ///   - text: One value, with nothing but white space around it.
    ///   - arguments: The values of bare `$NAME` in the text.
    /// - Throws: `TupleCodingError`, with line and column, if the text isn't JSON of this form.
    public init(json text: String, arguments: [String: Value] = [:]) throws(TupleCodingError) {
        try self.init(json: Array(text.utf8), arguments: arguments)
    }

    /// Reads JSON text, which may be no UTF-8.
    package init(json text: [UInt8], arguments: [String: Value] = [:]) throws(TupleCodingError) {
        var parser = JSONParser(text, arguments: arguments)
        let node = try parser.parse()
        self = try JSONReader(parser: parser).value(node)
        // The parser allows more levels than a value may have, and the values of arguments add levels of their own.
        if isNested(deeperThan: TupleLimits.maximumDepth) { throw .tooDeep() }
    }

    /// Reads JSON text that encloses values in arrays and objects of its own, such as a line of a dump or an operation.
    ///
    /// Each enclosed value may be as deep as any other value; the caller that extracts a value checks its depth.
    ///
    /// - Parameters:
    ///   - text: One value, with nothing but white space around it.
    ///   - levels: How many arrays and objects may enclose a value.
    /// - Throws: `TupleCodingError`, with line and column, if the text isn't JSON of this form.
    package init(json text: String, wrapping levels: Int) throws(TupleCodingError) {
        var parser = JSONParser(Array(text.utf8), arguments: [:], wrapping: levels)
        let node = try parser.parse()
        self = try JSONReader(parser: parser).value(node)
    }

    /// Reads another program's JSON: as most parsers read it, and without the special forms of values.
    ///
    /// - Parameter text: One value, nested no deeper than 66 levels. `$` has no meaning, of members with one name the last
    ///   counts, a lone surrogate becomes U+FFFD, and an integer beyond 64 bits a double.
    /// - Throws: `TupleCodingError`, with line and column, if the text isn't JSON.
    package init(foreignJSON text: [UInt8]) throws(TupleCodingError) {
        var parser = JSONParser(text, arguments: [:], isForeign: true)
        let node = try parser.parse()
        self = try JSONReader(parser: parser).value(node)
    }

    /// Reads a line of a dump, of a watch or of a transaction, whose arrays and objects enclose values.
    package init(line text: String) throws(TupleCodingError) { try self.init(json: text, wrapping: Self.levelsOfLines) }

    /// A limit on the arrays and objects in which a line encloses a value: the line's own, a tuple's, those of a change to a
    /// collection and of a list of steps are fewer.
    private static let levelsOfLines = 8

    /// The value as JSON text, on one line; equal values give equal text.
    ///
    /// Reading the text gives the same value, except for the bits of a NaN.
    public var json: String {
        var writer = JSONWriter()
        writer.write(self)
        return writer.string
    }
}

extension Record: CustomStringConvertible, JSONDescribed {
    /// The record as JSON text, on one line.
    public var json: String { Value.object(self).json }
}

extension Tuple: CustomStringConvertible, JSONDescribed {
    /// Reads JSON text: an array of fields or an object, which is a record.
    ///
    /// - Parameters:
    ///   - text: One array or object, with nothing but white space around it.
    ///   - arguments: The values of bare `$NAME` in the text.
    /// - Throws: `TupleCodingError`, with line and column, if the text isn't JSON of this form.
    public init(json text: String, arguments: [String: TupleCoding.Value] = [:]) throws(TupleCodingError) {
        try self.init(json: Array(text.utf8), arguments: arguments)
    }

    /// Reads JSON text, which may be no UTF-8.
    package init(json text: [UInt8], arguments: [String: TupleCoding.Value] = [:]) throws(TupleCodingError) {
        var parser = JSONParser(text, arguments: arguments)
        let node = try parser.parse()
        switch try JSONReader(parser: parser).value(node) {
        case .array(let fields): try self.init(checking: fields)
        case .object(let record): try self.init(checking: record)
        default: throw parser.error(.syntax, "a tuple is an array of fields or an object", at: node.offset)
        }
    }

    /// The tuple as JSON text, on one line; equal tuples give equal text.
    ///
    /// Reading the text gives the same tuple, except for the bits of a NaN.
    public var json: String {
        var writer = JSONWriter()
        if let record {
            writer.write(.object(record))
        } else {
            writer.write(.array(fields))
        }
        return writer.string
    }
}
