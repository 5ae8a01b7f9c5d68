import Glibc
import SharedSpace
import SpaceSystem
import Synchronization
import SystemPackage

/// The end of a task, for which the command's thread waits as it does for signals.
final class TaskEnd<Success: Sendable>: Sendable {
    private let event: EventFD
    private let noted = Mutex<Result<Success, any Error>?>(nil)

    init() throws(SpaceError) {
        event = try system("an event descriptor") { () throws(Errno) in try EventFD() }
    }

    var result: Result<Success, any Error>? { noted.withLock { $0 } }

    func note(_ result: Result<Success, any Error>) {
        noted.withLock { $0 = result }
        try? event.signal()
    }

    /// Waits for the end, or for a moment: a signal may come to another thread, and interrupts no wait here then.
    func wait() {
        var request = pollfd(fd: event.raw, events: Int16(POLLIN), revents: 0)
        _ = poll(&request, 1, 200)
    }
}

extension TaskEnd {
    /// The result of a task; if a signal asks the command to end, the task is cancelled first.
    static func result(of body: @escaping @Sendable () async throws -> Success) throws -> Success {
        let end = try TaskEnd()
        let task = Task {
            do { end.note(.success(try await body())) } catch { end.note(.failure(error)) }
        }
        while Signals.pending == nil, end.result == nil { end.wait() }
        if end.result == nil { task.cancel() }
        while true {
            if let result = end.result { return try result.get() }
            end.wait()
        }
    }
}
