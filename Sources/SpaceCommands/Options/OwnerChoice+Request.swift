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
        case .nobody, .noneFound, .hidden: return .nobody
        case .found(let process): return .process(process)
        case .process(let pid):
            guard let process = try ProcessIdentity.found(pid), process.life == .alive else {
                guard ProcessIdentity.isHidden(pid: pid) else {
                    throw CommandFailure.usage("process \(pid) can't be an owner: there is none, or it has exited")
                }
                throw CommandFailure.usage(
                    "process \(pid) can't be an owner: \(OwnerOptions.hidden); \(OwnerOptions.adviceForHidden)"
                )
            }
            return .process(process)
        }
    }
}

extension ProcessIdentity {
    /// The process that has this PID now; `nil` if there is none, or if it can't be seen.
    ///
    /// - Throws: `SpaceError` (`descriptorsExhausted`) if no descriptor is left to look at it.
    static func found(_ pid: Int32) throws(SpaceError) -> ProcessIdentity? {
        try SpaceError.naming("look at the owner", on: nil) { () throws(SpaceError) in
            try system("/proc") { () throws(Errno) in try ProcessIdentity.find(pid: pid) }
        }
    }
}
