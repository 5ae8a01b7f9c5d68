import ClusterStore
import SpaceEngine
package import SpaceMachines

/// What processes ask about the log; the daemon asks the same for its own transactions.
extension Appender {
    /// Answers a request about the log.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - use: Who asks.
    /// - Returns: The answer; `nil` if the request has none, or is not about the log.
    package func answer(_ request: DaemonRequest, of use: PenUse) async -> DaemonAnswer? {
        switch request {
        case .pen: return await fetchPenUnderGate(for: use)
        case .entries(let number):
            do { return .entries(try await entries(behind: number, mostBytes: settings.mostAnswerBytes)) } catch {
                // The log goes with its namespace.
                if case .trimmed = error, await hasEnded() { return .gone }
                return .unavailable(error.told)
            }
        case .append(let behind, let pen, let member, let entry):
            return await append(for: use, behind: behind, pen: pen, absentMember: member, entry: entry)
        case .head:
            do { return .head(try await readHead()) } catch { return .unavailable(error.told) }
        case .release:
            endUse(use)
            return nil
        default: return nil
        }
    }

    /// Whether the store says that the namespace was deleted; `false` if it can't be asked.
    private func hasEnded() async -> Bool {
        guard let read = try? await store.transact(then: [.read(.key(keys.id))]) else { return false }
        return read.readings.first?.first?.number != keys.life.number
    }
}
