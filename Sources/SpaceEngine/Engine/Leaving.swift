import LMDB
import SpaceSystem

/// Closing the environment when this process has left, although its handles may be kept.
///
/// An open environment costs two or three descriptors and 64 GiB of addresses, and keeps the blocks of a deleted data
/// file. The control file's descriptor is closed after it. The file's words stay mapped, because threads look at them
/// anywhere. Threads may be anywhere in the library at that moment. A thread that uses the environment either holds the
/// gate, or has a reader or another counted use (`ReaderPool`). In addition, any thread may ask for the number of the
/// last commit, which stays readable while the environment is closed (`Environment.toleratesLateLooks`). So:
///
/// 1. `markLeft()`: a thread that asks for the gate or for a reader from now on is refused.
/// 2. The gate is taken and released once: the thread that held it before has released it.
/// 3. The pool is closed. A thread that passed the check before step 1 may still take a reader, and then is counted.
/// 4. When the count is 0, it becomes negative in one step, and the environment is closed.
///
/// A holder of the gate that acts even after leaving is counted too.
package struct Leaving {
    /// How long to wait for the gate; if it is not acquired, the environment is closed with the last handle.
    private static let patience = Duration.milliseconds(100)

    private let engine: Engine

    package init(_ engine: Engine) { self.engine = engine }

    /// Closes this process's use of the environment as soon as no thread uses it, and then runs `body`; called once, after
    /// `markLeft()`.
    package func endUse(_ body: @escaping @Sendable () -> Void) {
        engine.changeSignal.close()
        guard engine.environment.toleratesLateLooks, passGate() else { return }
        engine.readers.close { [use = engine.use] in
            use.end()
            body()
        }
    }

    /// Takes the gate and releases it.
    private func passGate() -> Bool {
        guard !engine.control.gate.isKnownToBeStopped else { return false }
        do throws(ProcessLock.Failure) {
            let isAbandoned = try engine.control.gate.acquire(timeout: Self.patience) { engine.openControl() }
            // Nothing is repaired here: the next holder does it, or a ticker.
            if isAbandoned { engine.control.gateNeedsRecovery.store(1) }
        } catch {
            return false
        }
        engine.control.gate.release()
        return true
    }
}
