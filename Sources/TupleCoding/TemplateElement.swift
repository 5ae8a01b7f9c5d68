/// What may stand in a template: actuals, formals, ranges, patterns, and templates for nested arrays and objects.
///
/// Template literals have elements of this type, so that variables, ranges and `.any` mix:
///
/// ```swift
/// let template: Template = ["resize", .any, 40..<50]
/// ```
public protocol TemplateElement: Sendable {
    /// Adds the element to a template; one call of a method of `builder`, or of another element's `describe`.
    func describe(into builder: inout TemplateBuilder)
}
