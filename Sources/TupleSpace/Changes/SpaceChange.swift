import SpaceSystem
import Synchronization
import SystemPackage

/// A namespace that came or went.
public enum SpaceChange: Sendable, Hashable {
    /// A namespace is there that was not, by this name.
    case appeared(String)
    /// A namespace is gone.
    case disappeared(String)
}
