public import FoundationEssentials
public import SharedSpace

/// The parts of the message, as Foundation asks for them.
extension SpaceError: LocalizedError {
    /// The whole message: what was attempted, on what, why it failed, what to do.
    public var errorDescription: String? { description }

    /// Why it failed.
    public var failureReason: String? { reason }

    /// What to do.
    public var recoverySuggestion: String? { advice }
}
