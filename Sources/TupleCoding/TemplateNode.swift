/// One element of a template, or of an array or object inside it; extents are in the template's bytes.
package enum TemplateNode: Sendable {
    /// Matches the same bytes.
    case actual(Range<Int>)
    case formal(FieldType)
    indirect case range(FieldRange)
    indirect case pattern(Pattern)
    /// Matches arrays of the same length; holds at least one element that is no actual.
    case array([TemplateNode], extent: Range<Int>)
    /// Matches objects that have at least these entries, or exactly these.
    case object([TemplateEntry], extent: Range<Int>, exactly: Bool)

    var isActual: Bool {
        if case .actual = self { true } else { false }
    }

    /// The node for matching objects exactly at every depth: those without formals become actuals.
    var matchingExactly: TemplateNode {
        switch self {
        case .actual, .formal, .range, .pattern:
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
    /// Where the encoded name lies.
    let name: Range<Int>
    let node: TemplateNode

    /// Where name and value lie, if the value is an actual.
    var boundExtent: Range<Int>? {
        if case .actual(let value) = node { name.lowerBound..<value.upperBound } else { nil }
    }
}
