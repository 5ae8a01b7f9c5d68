// Every floor has tuples, templates and `any(Int.self)` in its public API.
@_exported public import TupleCoding
