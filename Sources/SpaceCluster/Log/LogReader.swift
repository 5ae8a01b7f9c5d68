package import ClusterStore
import SpaceEngine

/// Reads entries from the store that are not in memory.
package struct LogReader: Sendable {
    package let store: any Store
    package let keys: NamespaceKeys

    /// Why entries can't be read.
    package enum Failure: Error {
        case store(StoreError)
        /// The entry is missing: it was trimmed because a base has it, or the store has lost it.
        case trimmed(UInt64)
        case value(UInt64, ValueError)

        /// The failure in words.
        package var told: String {
            switch self {
            case .store(let error): error.told
            case .trimmed(let entry): "entry \(entry) is not in the log; a base may have it"
            case .value(let entry, let error): "entry \(entry) \(error.told)"
            }
        }
    }

    /// The most entries that are read at once, and the bytes above which fewer are: a message of the store has a limit.
    private static let mostAtOnce = 32
    private static let mostBytesAtOnce = 512 << 10

    /// Reads the entries from one to another, until they have enough bytes or one is missing; at least one.
    package func entries(_ range: ClosedRange<UInt64>, mostBytes: Int) async throws(Failure) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var bytes = 0
        var count = 1
        var next = range.lowerBound
        while next <= range.upperBound, bytes < mostBytes {
            let last = min(range.upperBound, next + UInt64(count) - 1)
            let part = try await read(next...last)
            let size = part.reduce(0) { $0 + $1.count }
            found += part
            if part.count <= last - next { break }
            bytes += size
            next = last + 1
            count = size > Self.mostBytesAtOnce ? max(1, count / 2) : min(Self.mostAtOnce, count * 2)
        }
        guard !found.isEmpty else { throw .trimmed(next) }
        return found
    }

    /// Reads entries up to the first that is missing.
    private func read(_ range: ClosedRange<UInt64>) async throws(Failure) -> [[UInt8]] {
        let outcome: StoreOutcome
        do {
            let reads = range.map { StoreOperation.read(.key(keys.key(.log($0)))) }
            outcome = try await store.transact(then: reads)
        } catch {
            throw .store(error)
        }
        var found: [[UInt8]] = []
        for (number, rows) in zip(range, outcome.readings) {
            guard let row = rows.first else { break }
            do {
                found.append(try LogValue(decoding: row.value, of: keys.life).entry)
            } catch {
                throw .value(number, error)
            }
        }
        return found
    }
}
