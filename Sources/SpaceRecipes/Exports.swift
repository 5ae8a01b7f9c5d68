// The public API of the recipes uses types of the tuple space, so this module re-exports it.
@_exported public import TupleSpace
