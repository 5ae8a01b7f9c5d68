package import SpaceEngine
import SpaceSystem
import SystemPackage

extension DaemonSocket {
    /// The daemon's word of a name that a process is about to give to a namespace of this root alone.
    package enum NameWord {
        /// The machines share no namespace of the name, as far as the daemon has heard.
        case free
        /// They share one.
        case shared
        /// The daemon does not know, or does not answer.
        ///
        /// - Parameters:
        ///   - error: The error for a process that needs the answer.
        ///   - mayPass: Whether it may be worth asking again.
        case none(SpaceError, mayPass: Bool)
    }

    /// How long one question about a name may take.
    private static let namePatience = Duration.seconds(1)

    /// Asks the daemon of a root once whether the machines share a namespace of a name.
    package static func word(of name: NamespaceName, in root: SpaceRoot) -> NameWord {
        do throws(Errno) {
            let deadline = MonotonicInstant.now.advanced(by: namePatience)
            let socket = try connect(root, until: deadline)
            return switch try exchange(.hello(life: 0, name: name.text), over: socket, until: deadline) {
            case .taken: .shared
            case .welcome(let member) where member != 0: .free
            case .unavailable(let why): .none(.nameUnknown(root, why), mayPass: true)
            // A daemon that is no member yet.
            case .welcome: .none(.nameUnknown(root, "the daemon has not joined yet"), mayPass: true)
            default: .none(.nameUnknown(root, "the daemon gave an answer that does not fit"), mayPass: false)
            }
        } catch {
            let isLasting = [.noSuchFileOrDirectory, .connectionRefused, .permissionDenied].contains(error)
            return .none(.nameUnknown(root, error), mayPass: !isLasting)
        }
    }

    /// Whether the daemon of a root knows a namespace of a name that several machines share.
    ///
    /// If the daemon does not answer within a second, the result is `false`.
    package static func knows(_ name: NamespaceName, in root: SpaceRoot) -> Bool {
        if case .shared = word(of: name, in: root) { true } else { false }
    }
}
