package import SpaceEngine
import SpaceSystem
import Synchronization
import SystemPackage

/// Sends operations to the daemon of this root, for all threads of a process.
///
/// A process that sent an operation and got no answer doesn't know whether it was executed. So that this is rare, an
/// operation is sent only to a daemon that has answered just before. A process that gives up, or ends, closes its
/// connection: the daemon then doesn't execute what it has not begun.
package final class OperationSender: Sendable {
    /// How long a daemon that has answered counts as one that answers.
    private static let freshness = Duration.milliseconds(100)
    /// How long the daemon may need until it answers the question whether it answers.
    private static let patience = Duration.seconds(4)
    /// How long the daemon waits for the other machines, once it has the gate.
    private static let appending = Duration.seconds(5)
    private static let mostIdle = 64

    private let root: SpaceRoot
    private let name: String
    private let life: NamespaceLife
    private let idle = Mutex(Idle())

    /// Connections that no thread uses now.
    ///
    /// Unchecked Sendable: a connection is in the list, or belongs to one thread.
    private struct Idle: @unchecked Sendable {
        var connections: [DaemonConnection] = []
    }

    init(root: SpaceRoot, name: String, life: NamespaceLife) {
        self.root = root
        self.name = name
        self.life = life
    }

    /// Sends an operation, and waits for its result; blocks the thread.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - timeout: How long the daemon waits for the gate at most.
    /// - Returns: What became of it, which may be an error of the operation.
    /// - Throws: `clusterUnavailable` and `memberEnded` if nothing was changed; `outcomeUnknown`; `namespaceDeleted`.
    package func send(_ operation: OperationMessage, timeout: Duration) throws(SpaceError) -> OperationAnswer {
        var connection = try readyConnection()
        let deadline = MonotonicInstant.now.advanced(by: timeout + Self.appending)
        while true {
            do throws(Errno) {
                try connection.send(.operate(operation), until: deadline)
                break
            } catch {
                // The daemon has ended, or does not read: it can't execute a part of a message.
                guard error != .timedOut else { throw .noDaemon(root, error) }
                // Perhaps there is another one already.
                connection = try readyConnection()
            }
        }
        CrashPoint.reach(.operationSent)
        let answer: DaemonAnswer
        do throws(Errno) {
            answer = try connection.receive(until: deadline)
        } catch {
            throw .outcomeUnknown("the daemon of this machine did not answer (\(error.told))")
        }
        idle.withLock { if $0.connections.count < Self.mostIdle { $0.connections.append(connection) } }
        switch answer {
        case .result(let result): return result
        case .gone, .joining, .unavailable, .refused: throw answer.error
        default: throw .answerDoesNotFit
        }
    }

    /// A connection whose daemon answers.
    private func readyConnection() throws(SpaceError) -> DaemonConnection {
        let deadline = MonotonicInstant.now.advanced(by: Self.patience)
        while let connection = idle.withLock({ $0.connections.popLast() }) {
            if connection.hasAnswered(within: Self.freshness) { return connection }
            let answer: DaemonAnswer
            do throws(Errno) {
                answer = try connection.exchange(.arrive, until: deadline)
            } catch {
                if error == .timedOut { throw .noDaemon(root, error) }
                // The connection's daemon has ended; perhaps there is another.
                continue
            }
            if answer == .done { return connection }
            throw answer.error
        }
        let (made, answer): (DaemonConnection?, DaemonAnswer)
        do throws(Errno) {
            (made, answer) = try DaemonConnection.open(root, life: life, name: name, until: deadline)
        } catch {
            throw .noDaemon(root, error)
        }
        guard let made else { throw answer.error }
        return made
    }
}
