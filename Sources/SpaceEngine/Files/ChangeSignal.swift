import Glibc
import SpaceSystem
import Synchronization

/// The change signal as a writer sends it: one byte written to a file that inotify watches.
///
/// A writer signals after the commit, and only if a watcher awaits the signal. A watcher that has something left to
/// read needs no signal, so a burst of writes sends one. A watcher that reads the journal after the signal sees the
/// commit. The file is opened at the first signal, and kept open. A signal that fails costs the watchers one tick, and
/// the next one tries again.
package final class ChangeSignal: Sendable {
    private let file = Mutex<OwnedDescriptor?>(nil)

    /// Sends the signal; `folder` opens the namespace's folder for the first one.
    func send(in folder: () -> NamespaceFolder?) {
        file.withLock { file in
            if file == nil { file = Self.open(in: folder) }
            guard let raw = file?.raw else { return }
            try? FileBytes.write([1], to: raw)
        }
    }

    /// Takes the request of a watcher that awaits the signal; the caller then sends it.
    ///
    /// So a burst of writes signals once each time that the watchers have read everything. This happens under the gate.
    /// Without it, a writer could be stopped between clearing the word and signalling, and the other writers would
    /// believe that the signal was sent. Under the gate, they wait for the stopped writer, and learn its PID. If the
    /// writer is killed there, the next holder of the gate notices it and signals.
    @inline(__always)
    func takeRequest(in control: ControlFile) -> Bool {
        control.isSignalAwaited.load() != 0 && control.isSignalAwaited.exchange(0) != 0
    }

    /// Asks the next writer with news to signal.
    ///
    /// The listener's side is: ask, fence, look. The look sees every earlier commit; a writer that commits later sees
    /// that the signal is awaited.
    package func request(in control: ControlFile) {
        control.isSignalAwaited.storeSequential(1)
        SharedWord64.fence()
    }

    /// Closes the file; another signal would open it again.
    func close() { file.withLock { $0 = nil } }

    private static func open(in folder: () -> NamespaceFolder?) -> OwnedDescriptor? {
        guard let folder = folder() else { return nil }
        return try? folder.files.open(NamespaceFolder.changeSignal, flags: O_WRONLY)
    }
}
