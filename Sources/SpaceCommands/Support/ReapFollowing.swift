import Glibc
import Logging
import ServiceLifecycle
import SharedSpace
import UnixSignals

/// What `space reap --follow` runs: the reaper on this thread, and a service group that ends it.
///
/// From the start of the group on the signals go to its sources instead of to the handlers of `Signals`; one that came
/// before was noted by those, and is looked for once the sources are there.
enum ReapFollowing {
    /// Deletes namespaces as their owners exit, and prints their names, until SIGTERM or SIGINT.
    static func run(_ space: Space) throws {
        let reaper = try Reaper(space: space)
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
        try reaper.run { name in
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

/// Stands for the reaper in the group: stops it when the group is to end.
private struct Following: Service {
    let reaper: Reaper

    func run() async {
        if Signals.pending != nil { return reaper.stop() }
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                // Returns on both; its error would only say which.
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
