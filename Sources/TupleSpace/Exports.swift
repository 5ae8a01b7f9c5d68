// The tuple space's public API speaks of the engine's errors, modes and identifiers.
@_exported public import SpaceEngine
