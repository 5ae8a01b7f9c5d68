/// One element of a template, or of an array or object inside it; the extents refer to the template's bytes.
package enum TemplateNode: Sendable {
    /// Matches the bytes in this extent.
    case actual(Range<Int>)
    case formal(FieldType)
    indirect case range(FieldRange)
    indirect case pattern(Pattern)
    /// Matches the elements that are left, however many; it stands last in a list of fields or elements.
    case rest
    /// Matches arrays of the same length, or of at least the length before a rest; at least one element is no actual.
    indirect case array([TemplateNode], extent: Range<Int>)
    /// Matches objects that have at least these entries or, if `exactly`, no others.
    indirect case object([TemplateEntry], extent: Range<Int>, exactly: Bool)

    var isRest: Bool {
        if case .rest = self { true } else { false }
    }

    var isActual: Bool {
        if case .actual = self { true } else { false }
    }

    /// The node that matches objects exactly at every depth; arrays and objects without formals become actuals.
    var matchingExactly: TemplateNode {
        switch self {
        case .actual, .formal, .range, .pattern, .rest:
            return self
        case .array(let elements, let extent):
            let elements = elements.map(\.matchingExactly)
            return elements.allSatisfy(\.isActual) ? .actual(extent) : .array(elements, extent: extent)
        case .object(let entries, let extent, _):
            let entries = entries.map { TemplateEntry(name: $0.name, node: $0.node.matchingExactly) }
            return entries.allSatisfy(\.node.isActual)
                ? .actual(extent) : .object(entries, extent: extent, exactly: true)
        }
    }
}

/// A named element of a template.
package struct TemplateEntry: Sendable {
    /// The extent of the encoded name.
    let name: Range<Int>
    let node: TemplateNode

    /// The extent of the name and the value together, or `nil` if the value is no actual.
    var boundExtent: Range<Int>? {
        if case .actual(let value) = node { name.lowerBound..<value.upperBound } else { nil }
    }
}
