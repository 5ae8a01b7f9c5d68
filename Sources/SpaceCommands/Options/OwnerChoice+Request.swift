import SharedSpace
import SpaceSystem
import SystemPackage

extension OwnerOptions.Choice {
    /// The process that the choice stands for, identified so that a later process with the same PID is not taken for
    /// it.
    ///
    /// - Throws: `CommandFailure` (usage) for a named process that does not exist or is hidden; `SpaceError`
    ///   (`descriptorsExhausted`) if no descriptor is left to look at it.
    func request() throws -> OwnerRequest {
        switch self {
        case .nobody, .parentGone:
            return .nobody
        case .process(let pid):
            guard let process = try find(pid), process.life == .alive else {
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
            guard let process = try find(pid), OwnerOptions.isParent(pid) else { return .nobody }
            return .process(process)
        }
    }

    private func find(_ pid: Int32) throws(SpaceError) -> ProcessIdentity? {
        try SpaceError.attempt("look at the owner", on: nil) { () throws(SpaceError) in
            try system("/proc") { () throws(Errno) in try ProcessIdentity.find(pid: pid) }
        }
    }
}
