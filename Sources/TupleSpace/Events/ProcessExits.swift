package import SpaceSystem
import Synchronization
import SystemPackage

/// The processes whose ends this process listens for, and what each end concerns.
///
/// A pidfd becomes readable when its process has exited. It is opened first and the process compared afterwards, so that
/// a later process with the same PID is never mistaken for the one that is meant.
package final class ProcessExits: Sendable {
    /// What is known of a process to follow.
    package enum Finding {
        /// Its end will be heard.
        case followed
        /// It has ended.
        case ended
        /// It lives as far as can be told, but its end will not be heard: for example, no descriptor is left.
        case unheard
    }

    private final class Process: Sendable {
        let identity: ProcessIdentity
        let pidfd: PIDFD

        init(_ identity: ProcessIdentity, _ pidfd: consuming PIDFD) {
            self.identity = identity
            self.pidfd = pidfd
        }
    }

    private struct Followed {
        let process: Process
        var concerns: Set<ObjectIdentifier>
    }

    private struct State {
        var followed: [UInt64: Followed] = [:]
        var tokens: [ProcessIdentity: UInt64] = [:]
        /// The tokens of the processes whose ends concern something.
        var byConcern: [ObjectIdentifier: Set<UInt64>] = [:]
        var next: UInt64

        mutating func remove(_ token: UInt64) -> Set<ObjectIdentifier> {
            guard let followed = followed.removeValue(forKey: token) else { return [] }
            tokens[followed.process.identity] = nil
            for concern in followed.concerns { drop(token, of: concern) }
            return followed.concerns
        }

        mutating func add(_ concern: ObjectIdentifier, to token: UInt64) {
            followed[token]?.concerns.insert(concern)
            byConcern[concern, default: []].insert(token)
        }

        private mutating func drop(_ token: UInt64, of concern: ObjectIdentifier) {
            byConcern[concern]?.remove(token)
            if byConcern[concern]?.isEmpty ?? false { byConcern[concern] = nil }
        }
    }

    private let state: Mutex<State>

    /// Makes a table whose tokens in the epoll set begin with `firstToken`.
    package init(firstToken: UInt64) { state = Mutex(State(next: firstToken)) }

    /// Listens for the end of a process.
    ///
    /// - Parameters:
    ///   - identity: The process.
    ///   - concern: What its end concerns.
    ///   - spare: How many descriptors must stay free for others.
    ///   - listen: Adds a descriptor with a token to the epoll set; returns whether that was possible.
    /// - Returns: What is known of it.
    package func follow(
        _ identity: ProcessIdentity,
        for concern: ObjectIdentifier,
        sparing spare: UInt64 = 0,
        _ listen: (_ descriptor: CInt, _ token: UInt64) -> Bool
    ) -> Finding {
        state.withLock { state in
            if let token = state.tokens[identity] {
                state.add(concern, to: token)
                return .followed
            }
            let pidfd: PIDFD
            do throws(Errno) {
                pidfd = try PIDFD(pid: identity.pid)
            } catch {
                return error == .noSuchProcess ? .ended : .unheard
            }
            // The lowest free number is given to a descriptor, so this one tells how many are left.
            if let most = ResourceLimits.openFiles, UInt64(pidfd.descriptor.raw) + spare >= most { return .unheard }
            // The process compared now is the one that the descriptor stands for, or a later one.
            guard identity.life == .alive else { return .ended }
            let process = Process(identity, pidfd)
            let token = state.next
            guard listen(process.pidfd.raw, token) else { return .unheard }
            state.next += 1
            state.followed[token] = Followed(process: process, concerns: [])
            state.tokens[identity] = token
            state.add(concern, to: token)
            return .followed
        }
    }

    /// Notes the end of the process with a token.
    ///
    /// - Returns: What it concerns. Closing the descriptor takes it out of the epoll set.
    package func end(_ token: UInt64) -> Set<ObjectIdentifier> { state.withLock { $0.remove(token) } }

    /// Stops listening for processes whose ends concern only this.
    package func forget(_ concern: ObjectIdentifier) {
        state.withLock { state in
            for token in state.byConcern.removeValue(forKey: concern) ?? [] {
                state.followed[token]?.concerns.remove(concern)
                if state.followed[token]?.concerns.isEmpty ?? false { _ = state.remove(token) }
            }
        }
    }
}
