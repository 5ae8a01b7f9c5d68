import SharedSpace
import SpaceSystem

extension OwnerOptions {
    /// The process for which something is held from command to command.
    ///
    /// - Throws: `CommandFailure` (usage) if the options name none.
    func holder(of what: String) throws -> ProcessIdentity {
        guard let holder = try choice().request().enrolled else {
            throw CommandFailure.usage(
                "\(what) is its owner's, and there is none: name one with --owner PID, or with \(Self.variable)"
            )
        }
        return holder
    }
}
