// The portable form of templates: the encoding of tuples, with formals at any depth. A formal begins with a code from
// FoundationDB's range for users:
//
//     41 TT       anything of the type whose code is TT: 00 anything, 01 bytes, 02 string, 05 array, 14 integer, 21 double,
//                 26 bool, 30 UUID, 40 object
//     42 L U C    a range: its bounds, each an integer, a double, a string, or 00 for none, and 26 if the upper bound does
//                 not belong to it, 27 if it does
//     43 S        the strings in which the expression S, a string, is found
//     44          the rest: any fields or elements, as the last of a list
//     45          alone: any tuple
//
// The bytes come from other programs, so every byte is checked.

extension Selection where Content == Tuple {
    /// Reads the portable form.
    ///
    /// - Parameters:
    ///   - bytes: The fields one after the other, or the one object of a record.
    ///   - isRecord: Whether the template is one of names.
    ///   - exactly: Whether objects, at every depth, match only objects without other fields.
    /// - Throws: `TupleCodingError` if the bytes are no template.
    package init(
        portable bytes: UnsafeRawBufferPointer,
        isRecord: Bool,
        exactly: Bool
    ) throws(TupleCodingError) {
        if bytes.count == 1, bytes[0] == PortableFormal.anyTuple {
            self = .any
            return
        }
        var builder = TemplateBuilder()
        var decoder = TupleDecoder(bytes)
        if isRecord {
            guard decoder.code == TypeCode.record else { throw decoder.mismatch("object") }
            try builder.appendPortable(&decoder)
            try decoder.finish()
        } else {
            while !decoder.isAtEnd { try builder.appendPortable(&decoder) }
        }
        let form = isRecord ? try TemplateForm(record: builder) : try TemplateForm(fields: builder)
        self.init(form: exactly ? form.exactly() : form)
    }
}

/// The codes of formals in the portable form.
private enum PortableFormal {
    static let type: UInt8 = 0x41
    static let range: UInt8 = 0x42
    static let pattern: UInt8 = 0x43
    static let rest: UInt8 = 0x44
    static let anyTuple: UInt8 = 0x45

    static let halfOpen: UInt8 = 0x26
    static let closed: UInt8 = 0x27
    static let noBound: UInt8 = 0x00

    /// The type that a code stands for.
    static func type(_ code: UInt8) -> FieldType? {
        switch code {
        case TypeCode.null: .any
        case TypeCode.bytes: .bytes
        case TypeCode.string: .string
        case TypeCode.array: .array
        case TypeCode.zero: .int
        case TypeCode.double: .double
        case TypeCode.false: .bool
        case TypeCode.uuid: .uuid
        case TypeCode.record: .object
        default: nil
        }
    }
}

extension TemplateBuilder {
    /// Adds the element that comes next in the decoder.
    fileprivate mutating func appendPortable(_ decoder: inout TupleDecoder) throws(TupleCodingError) {
        switch decoder.code {
        case PortableFormal.type: appendFormal(try decoder.decodeType())
        case PortableFormal.range: appendRange(try decoder.decodeRange())
        case PortableFormal.pattern: appendPattern(try decoder.decodePattern())
        case PortableFormal.rest:
            try decoder.decodeByte()
            appendRest()
        case TypeCode.array:
            try appendArray { (builder) throws(TupleCodingError) in
                try decoder.decodeArray { (decoder) throws(TupleCodingError) in
                    while !decoder.isAtEnd { try builder.appendPortable(&decoder) }
                }
            }
        case TypeCode.record:
            // The builder wants all names before it asks for the elements: each is read by a decoder that stands before it.
            var entries: [(name: String, element: TupleDecoder)] = []
            try decoder.decodeObject { (name, decoder) throws(TupleCodingError) in
                entries.append((name, decoder))
                try decoder.skipPortable()
            }
            try appendObject(entries, exactly: false) { (element, builder) throws(TupleCodingError) in
                var element = element
                try builder.appendPortable(&element)
            }
        default: appendActual(try decoder.decodeValue())
        }
        // What is too deep was not added, and perhaps not read.
        if let failure { throw failure }
    }
}

extension TupleDecoder {
    fileprivate mutating func decodeType() throws(TupleCodingError) -> FieldType {
        try decodeByte()
        let code = try decodeByte()
        guard let type = PortableFormal.type(code) else {
            throw TupleCodingError(.formal, "a formal names no type: code \(code)")
        }
        return type
    }

    fileprivate mutating func decodePattern() throws(TupleCodingError) -> Pattern {
        try decodeByte()
        return try Pattern(try decodeString())
    }

    fileprivate mutating func decodeRange() throws(TupleCodingError) -> FieldRange {
        try decodeByte()
        let (lower, upper) = (try decodeBound(), try decodeBound())
        let end = try decodeByte()
        guard end == PortableFormal.halfOpen || end == PortableFormal.closed else {
            throw TupleCodingError(.formal, "a range does not say whether its upper bound belongs to it")
        }
        let isClosed = end == PortableFormal.closed
        let range: FieldRange
        switch (lower, upper) {
        case (.null, .null): throw TupleCodingError(.formal, "a range without bounds; a formal matches anything")
        case (.int, .int), (.int, .null), (.null, .int):
            range = FieldRange(bounds: .int(lower: lower.number, upper: upper.number), isClosed: isClosed)
        case (.double, .double), (.double, .null), (.null, .double):
            range = .doubles(lower: lower.asDouble, upper: upper.asDouble, isClosed: isClosed)
        case (.string, .string), (.string, .null), (.null, .string):
            range = .strings(lower: lower.text, upper: upper.text, isClosed: isClosed)
        default:
            throw TupleCodingError(
                .formal,
                "the bounds of a range are integers, doubles or strings, and both of one type"
            )
        }
        if range.isReversed { throw TupleCodingError(.formal, "the bounds of the range are the wrong way round") }
        return range
    }

    /// A bound of a range; null for none.
    private mutating func decodeBound() throws(TupleCodingError) -> Value {
        // In a list a zero would be its end.
        guard rawByte == PortableFormal.noBound else { return try decodeValue() }
        try decodeByte()
        return .null
    }

    /// Skips one element of a template.
    fileprivate mutating func skipPortable() throws(TupleCodingError) {
        switch code {
        case PortableFormal.type: _ = try decodeType()
        case PortableFormal.range: _ = try decodeRange()
        case PortableFormal.pattern:
            // It is compiled once, when it is added.
            try decodeByte()
            _ = try decodeString()
        case PortableFormal.rest: try decodeByte()
        case TypeCode.array:
            try decodeArray { (decoder) throws(TupleCodingError) in
                while !decoder.isAtEnd { try decoder.skipPortable() }
            }
        case TypeCode.record:
            try decodeObject { (_, decoder) throws(TupleCodingError) in try decoder.skipPortable() }
        default: _ = try decodeValue()
        }
    }
}

extension Value {
    fileprivate var asDouble: Double? { if case .double(let value) = self { value } else { nil } }
}
