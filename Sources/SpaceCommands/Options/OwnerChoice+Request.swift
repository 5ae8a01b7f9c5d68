import SharedSpace
import SpaceSystem

extension OwnerOptions.Choice {
    /// The process that the choice stands for, identified so that a later process with the same PID is not taken for
    /// it.
    ///
    /// - Throws: `CommandFailure` (usage) for a named process that does not exist or is hidden.
    func request() throws -> OwnerRequest {
        switch self {
        case .nobody, .parentGone:
            return .nobody
        case .process(let pid):
            guard let process = ProcessIdentity.of(pid: pid), process.life == .alive else {
                guard ProcessIdentity.isHidden(pid: pid) else {
                    throw CommandFailure.usage("process \(pid) can't be an owner: there is none, or it has exited")
                }
                throw CommandFailure.usage(
                    "process \(pid) can't be an owner: \(OwnerOptions.hidden); \(OwnerOptions.adviceForHidden)"
                )
            }
            return .process(process)
        case .parent(let pid):
            // If the process is still the parent after its start time was read, that start time is the parent's. A
            // hidden parent owns nothing.
            guard let process = ProcessIdentity.of(pid: pid), OwnerOptions.isParent(pid) else { return .nobody }
            return .process(process)
        }
    }
}
