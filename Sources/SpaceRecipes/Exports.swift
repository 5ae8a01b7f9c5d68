// The recipes are written in terms of the tuple space, in their public API too.
@_exported public import TupleSpace
