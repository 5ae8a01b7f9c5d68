/// An element of a template: an actual, a formal, a range, a pattern, or a template for a nested array or object.
///
/// Template literals have elements of this type, so you can mix variables, ranges and `.any`:
///
/// ```swift
/// let template: Template = ["resize", .any, 40..<50]
/// ```
public protocol TemplateElement: Sendable {
    /// Adds the element to a template, by one call of another element's `describe`: a field's, a formal's, a range's.
    ///
    /// Inside a type that is an element, `any` is the formal `.any`: the function is `TupleCoding.any(Int.self)`.
    func describe(into builder: inout TemplateBuilder)
}
