import Glibc
import Logging
import ServiceLifecycle
import SharedSpace
import UnixSignals

/// What `space reap --follow` runs: the reaper on this thread, and a service group that ends the reaper.
///
/// Once the group has started, signals go to its sources instead of the handlers of `Signals`. A signal that came
/// before was noted by the handlers: the service looks for it when the sources are there.
enum ReapFollowing {
    /// Deletes namespaces as their owners exit, and prints their names, until SIGTERM or SIGINT.
    static func run(_ space: Space) throws {
        let reaper = Reaper(space: space)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: Following(reaper: reaper))],
                gracefulShutdownSignals: [.sigterm, .sighup],
                cancellationSignals: [.sigint],
                logger: Logger(label: "space") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        Task { try await group.run() }
        var failure: (any Error)?
        reaper.run { name in
            guard failure == nil else { return }
            do {
                // One name at a time, because the reader acts on each.
                try Output.print(line: PeopleText.escaped(name))
            } catch {
                failure = error
                reaper.stop()
            }
        }
        if let failure { throw failure }
    }
}

/// The reaper's service in the group: stops the reaper when the group is to end.
private struct Following: Service {
    let reaper: Reaper

    func run() async {
        if Signals.pending != nil { return reaper.stop() }
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                // Returns on shutdown and on cancellation; its error would only say which.
                try? await gracefulShutdown()
            } onGracefulShutdown: {
                end(by: SIGTERM)
            }
        } onCancel: {
            end(by: SIGINT)
        }
    }

    private func end(by number: Int32) {
        Signals.note(number)
        reaper.stop()
    }
}
