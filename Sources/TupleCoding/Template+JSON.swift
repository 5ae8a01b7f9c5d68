// The JSON form of templates: the form of tuples, with formals at any depth. A formal is a string that begins with `?`.
//
//     "?"                                              anything; alone, any tuple
//     "?int" "?double" "?string" "?bool" "?bytes" "?uuid" "?array" "?object"
//     "?1...9" "?0.5..<1" "?a...f" "?5..." "?...9" "?..<9"   ranges
//     "?0.5...1e999" "?-1e999...0.5"                   a double beyond the finite ones is infinity
//     "?/^cat/"                                        strings in which the expression is found
//     "?..."                                           the rest: any fields or elements, as the last of an array
//     "??x"                                            the string "?x"

extension Selection where Content == Tuple {
    /// Reads JSON text.
    ///
    /// An array matches tuples of the same length; an object matches records that have at least its fields, and so do
    /// objects inside. `"?"` alone matches any tuple.
    ///
    /// - Parameters:
    ///   - text: An array, an object or `"?"`, with nothing but white space around it.
    ///   - exactly: Whether objects, at every depth, match only objects without other fields.
    ///   - literal: Whether the text is a tuple without formals; the template then matches only that tuple.
    ///   - arguments: The values of bare `$NAME` in the text; strings in them are never formals.
    /// - Throws: `TupleCodingError`, with line and column, if the text isn't JSON of this form.
    public init(
        json text: String,
        exactly: Bool = false,
        literal: Bool = false,
        arguments: [String: TupleCoding.Value] = [:]
    ) throws(TupleCodingError) {
        if literal {
            self.init(try Tuple(json: text, arguments: arguments))
            return
        }
        var parser = JSONParser(Array(text.utf8), arguments: arguments)
        let node = try parser.parse()
        var reader = TemplateReader(json: JSONReader(parser: parser), exactly: exactly)
        self.init(form: try reader.template(node))
    }
}

extension Selection: CustomStringConvertible, JSONDescribed {
    /// The template as JSON text, on one line.
    ///
    /// Reading the text gives a template that matches the same tuples, with three exceptions. The text does not say
    /// whether objects are matched exactly. A formal for which the form has no word becomes a wider one, such as
    /// `"?array"` for arrays of integers. A choice of several templates becomes their texts with "or" between them,
    /// which can't be read again.
    public var json: String { form.json }
}

extension TemplateForm {
    /// The form as JSON text; see ``Selection/json``.
    package var json: String {
        var writer = JSONWriter()
        writer.forTemplate = true
        switch parts.pointee.kind {
        case .anything: writer.write("?")
        case .fields:
            writer.writeArray(parts.pointee.elements.nodes.array) { $0.write($1, parts.pointee.bytes, nested: false) }
        case .record(let entries, _): writer.write(entries, parts.pointee.bytes)
        case .anyOf(let forms): writer.write(raw: forms.map(\.json).joined(separator: " or "))
        }
        return writer.string
    }
}

/// Makes a template from parsed JSON.
private struct TemplateReader {
    let json: JSONReader
    let exactly: Bool

    mutating func template(_ node: JSONNode) throws(TupleCodingError) -> TemplateForm {
        let template: TemplateForm
        var builder = TemplateBuilder()
        switch node.content {
        case .string("?"):
            return .any
        case .array(let nodes):
            for node in nodes { try append(node, to: &builder) }
            template = try TemplateForm(fields: builder)
        case .argument(.array(let values)):
            for value in values { try append(value, to: &builder) }
            template = try TemplateForm(fields: builder)
        case .object(let members):
            if case .value? = try json.special(members) { throw notATemplate(node) }
            try append(node, to: &builder)
            template = try TemplateForm(record: builder)
        case .argument(.object(let record)):
            try append(.object(record), to: &builder)
            template = try TemplateForm(record: builder)
        default:
            throw notATemplate(node)
        }
        return exactly ? template.exactly() : template
    }

    private func notATemplate(_ node: JSONNode) -> TupleCodingError {
        json.error(.syntax, "a template is an array, an object or \"?\"", at: node.offset)
    }

    private func append(_ node: JSONNode, to builder: inout TemplateBuilder) throws(TupleCodingError) {
        switch node.content {
        case .null, .bool, .int, .double: builder.appendActual(try json.value(node))
        case .argument(let value): try append(value, to: &builder)
        case .string(let text):
            guard text.utf8.first == UInt8(ascii: "?") else {
                builder.appendActual(text)
                return
            }
            try TemplateFormal(text, at: node.offset, in: json).append(to: &builder)
        case .array(let nodes):
            try builder.appendArray { (builder) throws(TupleCodingError) in
                for node in nodes { try append(node, to: &builder) }
            }
        case .object(let members):
            let entries: [(name: String, element: JSONNode)]
            switch try json.special(members) {
            case .value(let value):
                builder.appendActual(value)
                return
            case .escaped(let name): entries = [(name, members[0].value)]
            case nil: entries = members.map { ($0.name, $0.value) }
            }
            try builder.appendObject(entries, exactly: exactly) { (node, builder) throws(TupleCodingError) in
                try append(node, to: &builder)
            }
        }
    }

    /// Adds an argument's value as if it stood in the text, except that its strings are never formals.
    private func append(_ value: Value, to builder: inout TemplateBuilder) throws(TupleCodingError) {
        switch value {
        case .array(let values):
            try builder.appendArray { (builder) throws(TupleCodingError) in
                for value in values { try append(value, to: &builder) }
            }
        case .object(let record):
            let entries = record.map { (name: $0.name, element: $0.value) }
            try builder.appendObject(entries, exactly: exactly) { (value, builder) throws(TupleCodingError) in
                try append(value, to: &builder)
            }
        default:
            builder.appendActual(value)
        }
    }
}

// MARK: Writing

extension JSONWriter {
    fileprivate mutating func write(_ node: TemplateNode, _ bytes: UnsafeRawBufferPointer, nested: Bool) {
        switch node {
        case .actual(let extent):
            // Null inside an array is 00 FF; only its first byte is decoded, which is null at the top level.
            let isNull = bytes[extent.lowerBound] == TypeCode.null
            var decoder = TupleDecoder(bytes.slice(isNull ? extent.prefix(1) : extent))
            write((try? decoder.decodeValue()) ?? .null)
        case .formal(let type): write(TemplateFormal.text(for: type))
        case .range(let range): write(TemplateFormal.text(for: range))
        case .pattern(let pattern): write("?/" + pattern.source + "/")
        case .rest: write(TemplateFormal.rest)
        case .array(let elements, _): writeArray(elements) { $0.write($1, bytes, nested: true) }
        case .object(let entries, _, _): write(entries, bytes)
        }
    }

    fileprivate mutating func write(_ entries: [TemplateEntry], _ bytes: UnsafeRawBufferPointer) {
        let names = entries.map { entry in
            var decoder = TupleDecoder(bytes.slice(entry.name))
            return (try? decoder.decodeString()) ?? ""
        }
        writeObject(names: names) { writer, position in writer.write(entries[position].node, bytes, nested: true) }
    }
}
