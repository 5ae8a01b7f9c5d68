/// A description of the tuples that `read` and `take` match: fields that are actual values, and formals.
///
/// A match comes as a ``Tuple``.
///
/// A template of fields matches tuples with the same number of fields; with ``TemplateElement/rest`` as its last element,
/// tuples with that number at least. A template of names matches records that have at
/// least its names or, with ``Selection/exactly()``, no others. ``Selection/any`` matches every tuple.
///
/// ```swift
/// let jobs: Template = ["resize", .any, 40..<50]
/// let urgent: Template = ["kind": "resize", "priority": 7...]
/// ```
///
/// An array or object that you give as a value is an actual: only an equal array or object matches it. An array or
/// object with formals inside is a nested template: `["job", ["kind": "resize", "id": .any] as Template]`.
public typealias Template = Selection<Tuple>

extension Selection where Content == Tuple {
    init(form: TemplateForm) {
        self.init(form) { (decoder) throws(TupleCodingError) in try decoder.decodeTuple() }
    }

    /// The template that matches every tuple, including records.
    public static var any: Template { Template(form: .any) }

    /// The template that matches what any of several templates matches.
    ///
    /// ```swift
    /// let next = try await jobs.take(matching: .anyOf(["resize", .any], ["stop"]))
    /// ```
    ///
    /// The oldest matching tuple comes first, or the newest, whatever template it matches. A look costs as much as a
    /// look for each template. Counting, reading and taking all that match go through all tuples. Every new tuple wakes
    /// a waiter for such a template.
    ///
    /// - Parameter templates: At least one. Without a template, a call that reads, takes or claims throws
    ///   `invalidArgument`.
    /// - Returns: The template; if there is only one, that one.
    public static func anyOf(_ templates: Template...) -> Template { anyOf(templates) }

    /// The template that matches what any of several templates matches; the same as the form with separate arguments.
    public static func anyOf(_ templates: [Template]) -> Template {
        templates.count == 1 ? templates[0] : Template(form: TemplateForm(anyOf: templates.map(\.form)))
    }

    /// Makes a template of fields whose number or nesting comes from data.
    ///
    /// - Throws: `TupleCodingError` if an actual is nested deeper than 64 levels, a rest is not the last
    ///   element, or an element is a choice of templates.
    public init(checking elements: [any TemplateElement]) throws(TupleCodingError) {
        var builder = TemplateBuilder()
        for element in elements { element.describe(into: &builder) }
        self.init(form: try TemplateForm(fields: builder))
    }

    /// Makes a template that matches only one tuple.
    public init(_ tuple: Tuple) { self.init(form: TemplateForm(tuple)) }
}

extension Selection: ExpressibleByArrayLiteral where Content == Tuple {
    /// Makes a template of fields.
    ///
    /// - Precondition: No actual is nested deeper than 64 levels; see
    ///   `init(checking:)`.
    public init(arrayLiteral elements: any TemplateElement...) {
        var builder = TemplateBuilder()
        for element in elements { element.describe(into: &builder) }
        self.init(form: TemplateForm(trusting: builder))
    }
}

extension Selection: ExpressibleByDictionaryLiteral where Content == Tuple {
    /// Makes a template of names.
    ///
    /// - Precondition: No name occurs twice, and no actual is nested deeper than 64 levels.
    public init(dictionaryLiteral elements: (String, any TemplateElement)...) {
        let sorted = elements.map { (name: $0.0, element: $0.1) }.sorted { $0.name.compareUTF8($1.name) < 0 }
        for (earlier, later) in zip(sorted, sorted.dropFirst()) {
            precondition(earlier.name.compareUTF8(later.name) != 0, "a template has the name \(later.name) twice")
        }
        var builder = TemplateBuilder()
        builder.appendObject(sorted, exactly: false) { element, builder in element.describe(into: &builder) }
        do throws(TupleCodingError) {
            self.init(form: try TemplateForm(record: builder))
        } catch {
            preconditionFailure(error.reason)
        }
    }
}

extension Selection: TemplateElement where Content == Tuple {
    /// Adds the template to another one, as a nested array or object.
    public func describe(into builder: inout TemplateBuilder) { builder.append(form) }
}
