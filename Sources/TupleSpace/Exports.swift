// The tuple space's public API uses the engine's errors, modes and identifiers.
@_exported public import SpaceEngine
