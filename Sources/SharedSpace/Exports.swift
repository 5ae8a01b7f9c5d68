// Users write `import SharedSpace` and have the layers below, with tuples, templates and `any(Int.self)`, at hand.
// Without the re-export, MemberImportVisibility would hide their members, and `any` would resolve to a function of the
// standard library.
@_exported public import SpaceRecipes
@_exported public import TupleCoding
@_exported public import TupleSpace
