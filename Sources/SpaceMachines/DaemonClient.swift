package import SpaceEngine
import SpaceSystem
import Synchronization

/// How this process reaches the daemon of its root about one namespace: for the log that several machines share, and with
/// its operations.
package final class DaemonClient: LogSource {
    let root: SpaceRoot
    let name: String
    let life: NamespaceLife
    /// How this process's operations come to the daemon.
    package let sender: OperationSender
    private let exchange = Mutex<(@Sendable () -> any DaemonExchange)?>(nil)

    /// When the daemon last answered this process, under the gate or outside of it.
    private let answered = Atomic<Int64>(.min)
    private let isKnownToBeSilent = Atomic<Bool>(false)

    package init(root: SpaceRoot, name: String, life: NamespaceLife) {
        self.root = root
        self.name = name
        self.life = life
        sender = OperationSender(root: root, name: name, life: life)
    }

    /// How the daemon's own transactions reach the daemon; set before the first of them, and `nil` in other processes.
    package var ownExchange: (@Sendable () -> any DaemonExchange)? {
        get { exchange.withLock { $0 } }
        set { exchange.withLock { $0 = newValue } }
    }

    package func log() -> any CommitLog { DaemonLog(self) }

    // MARK: What is known of the daemon

    package func noteAnswer() {
        answered.store(MonotonicInstant.now.nanoseconds, ordering: .relaxed)
        isKnownToBeSilent.store(false, ordering: .relaxed)
    }

    /// Notes that this process has waited for the daemon and got no answer.
    package func noteSilence() { isKnownToBeSilent.store(true, ordering: .relaxed) }

    package var isSilent: Bool { isKnownToBeSilent.load(ordering: .relaxed) }

    /// Whether the daemon has answered this process within a time.
    package func hasAnswered(within age: Duration) -> Bool {
        !MonotonicInstant(nanoseconds: answered.load(ordering: .relaxed)).advanced(by: age).hasPassed
    }
}
