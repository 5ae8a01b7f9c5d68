import SpaceEngine
import SpaceMachines
import SpaceSystem
import Synchronization
import SystemPackage

/// How the daemon's own transactions reach the log: with a process's requests, and without its socket.
final class OwnExchange: DaemonExchange {
    private static let last = Atomic<UInt64>(0)

    private let appender: Appender
    private let use = PenUse.daemon(OwnExchange.last.add(1, ordering: .relaxed).newValue)

    init(_ appender: Appender) { self.appender = appender }

    deinit { TaskHome.daemon.start { [appender, use] in await appender.endUse(use) } }

    func exchange(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno) -> DaemonAnswer {
        let answer = BlockingAnswer<DaemonAnswer?>()
        let asking = TaskHome.daemon.start { [appender, use] in
            let isAwaited = answer.give(await appender.answer(request, of: use))
            if !isAwaited { await appender.endUse(use) }
        }
        guard let answered = answer.wait(until: deadline) else {
            asking.cancel()
            throw .timedOut
        }
        guard let answered else { throw .protocolError }
        return answered
    }

    func send(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno) {
        TaskHome.daemon.start { [appender, use] in await appender.answer(request, of: use) }
    }
}
