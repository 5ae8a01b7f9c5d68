package import SpaceEngine
import SpaceSystem
import SystemPackage

extension SpaceError {
    /// The error for a namespace of several machines that can't agree now.
    package static func clusterUnavailable(_ reason: String) -> SpaceError {
        SpaceError(
            .clusterUnavailable,
            reason: "\(reason); nothing was changed",
            advice: "try again; look with: space machines"
        )
    }

    /// The error for a namespace whose life has ended in the cluster.
    package static var deletedOnAllMachines: SpaceError {
        SpaceError(
            .namespaceDeleted,
            reason: "the namespace was deleted on all machines, or the store has lost it",
            advice: "look with: space machines; open it again to start afresh"
        )
    }

    /// The error for a change that may or may not have happened.
    package static func outcomeUnknown(_ reason: String) -> SpaceError {
        SpaceError(
            .outcomeUnknown,
            reason: "the change was sent to the other machines and may have happened, or may still happen: \(reason)",
            advice: "look whether it has happened before you try again"
        )
    }

    /// The error of a change whose daemon gave an answer of another request.
    package static var answerDoesNotFit: SpaceError { .outcomeUnknown(DaemonAnswer.unfitting) }

    /// The error of a change if the daemon of a root can't be reached.
    static func noDaemon(_ root: SpaceRoot, _ error: Errno, isShared: Bool = true) -> SpaceError {
        let (reason, advice) = daemonTrouble(root, error)
        return SpaceError(
            .clusterUnavailable,
            reason: "\(isShared ? "several machines share it, and " : "")\(reason); nothing was changed",
            advice: advice
        )
    }

    /// The error of a question if the daemon of a root can't be reached.
    static func noAnswer(_ root: SpaceRoot, _ error: Errno) -> SpaceError {
        let (reason, advice) = daemonTrouble(root, error)
        return SpaceError(.clusterUnavailable, reason: reason, advice: advice)
    }

    /// The error of a process that is about to make a namespace of this root alone, if the daemon can't be reached.
    static func nameUnknown(_ root: SpaceRoot, _ error: Errno) -> SpaceError {
        let (reason, advice) = daemonTrouble(root, error)
        return nameUnknown(reason, advice)
    }

    /// The same, if the daemon does not know for another reason.
    static func nameUnknown(_ root: SpaceRoot, _ why: String) -> SpaceError {
        nameUnknown(why, "try again; look with: space --root \(root.path) machines")
    }

    private static func nameUnknown(_ reason: String, _ advice: String) -> SpaceError {
        SpaceError(
            .clusterUnavailable,
            reason: "the root has joined other machines, which may share a namespace of this name, and \(reason); "
                + "nothing was changed",
            advice: "\(advice); or make one that is this machine's alone: --local, or NamespaceOptions(isLocal: true)"
        )
    }

    private static func daemonTrouble(_ root: SpaceRoot, _ error: Errno) -> (reason: String, advice: String) {
        let options = JoinedSpace(ofRoot: root.path)?.options ?? ""
        let start = "start the daemon: space --root \(root.path) join --etcd URL\(options)"
        let daemon = "the daemon of the root \(root.path.quotedForPeople)"
        return switch error {
        case .noSuchFileOrDirectory, .connectionRefused:
            ("no daemon runs for the root \(root.path.quotedForPeople)", start)
        case .timedOut: silence(root, of: daemon)
        case .permissionDenied:
            ("\(daemon) answers the root's owner alone", "let the root's owner do it")
        default: ("\(daemon) can't be reached (\(error.told))", start)
        }
    }

    /// Why a daemon does not answer in time, as far as its process shows it.
    private static func silence(_ root: SpaceRoot, of daemon: String) -> (reason: String, advice: String) {
        let soon = MonotonicInstant.now.advanced(by: .milliseconds(10))
        let pid = (try? DaemonSocket.connect(root, until: soon).peer.process) ?? 0
        if pid > 0, let halt = ProcessIdentity.halt(of: pid) {
            return ("\(daemon) (process \(pid)) is \(halt.phrase)", halt.advice(for: pid) + ", then try again")
        }
        let state = pid > 0 ? "is busy, or waits for the store (etcd)" : "is stopped or busy"
        return (
            "\(daemon) \(state), and does not answer in time",
            "try again; look with: space --root \(root.path) machines"
        )
    }
}

extension DaemonAnswer {
    static let unfitting = "the daemon of this machine gave an answer that does not fit"

    /// The error of a request that this refuses; `nil` if the answer is none that refuses.
    var refusal: SpaceError? {
        switch self {
        case .gone: .deletedOnAllMachines
        case .joining(let why): .memberEnded(why)
        case .unavailable(let why), .refused(let why): .clusterUnavailable(why)
        case .unknown(let why): .outcomeUnknown(why)
        default: nil
        }
    }

    /// The error of a request that wants another answer than this, and has changed nothing.
    package var error: SpaceError { refusal ?? .clusterUnavailable(Self.unfitting) }
}
