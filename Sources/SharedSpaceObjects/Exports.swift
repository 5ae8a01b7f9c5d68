// Users write `import SharedSpaceObjects` and have the tuple space at hand too: collections, responders and observers
// belong to a namespace.
@_exported public import SharedSpace
