import Glibc
import SharedSpace
import SpaceSystem

/// A process that watches the replicated namespace on one machine: each change must be the same on all machines, under
/// the same number, and come in order.
struct ClusterObserver {
    let root: String
    let ledger: ClusterLedger

    /// Watches until the run stops, or until the replica is another one.
    func live() throws {
        let space = try Space(root: root, timeout: .seconds(10))
        guard let namespace = try ClusterWorker.open(ClusterWorker.name, in: space, ledger) else { return }
        do {
            let (changes, ledger) = (try namespace.changes(), ledger)
            let end = Ended()
            Task.detached {
                await Self.read(changes, ledger)
                end.note()
            }
            while ledger.stop.load() == 0, !end.isNoted { usleep(20_000) }
        } catch {
            _ = try ledger.judge(error)
            usleep(50_000)
        }
    }

    private static func read(_ changes: Changes, _ ledger: ClusterLedger) async {
        var last: UInt64 = 0
        do {
            for try await change in changes {
                if change.sequence <= last {
                    noteFault(ledger.toldWrongly, "change \(change.sequence) was told after change \(last)")
                }
                last = max(change.sequence, change.lastSequence)
                if change.kind == .gap { _ = ledger.gaps.add(1) } else { note(change, ledger) }
            }
        } catch {
            do { _ = try ledger.judge(error) } catch { noteFault(ledger.failures, "watching failed: \(error)") }
        }
    }

    /// Compares a change with what another process was told under its number.
    private static func note(_ change: Change, _ ledger: ClusterLedger) {
        let text = "\(change.kind) \(change.pid) \(change.key ?? "") \(change.tuple?.description ?? "")"
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        _ = ledger.told.add(1)
        let (isFirst, other) = ledger.change(change.sequence).compareExchange(expected: 0, desired: hash)
        if !isFirst, other != hash {
            noteFault(ledger.toldWrongly, "change \(change.sequence) is another one elsewhere: \(text)")
        }
    }

    /// Unchecked Sendable: the word is only accessed by atomic operations.
    private final class Ended: @unchecked Sendable {
        private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

        init() { word.initialize(to: 0) }
        deinit { word.deallocate() }
        var isNoted: Bool { SharedWord32(at: word).load() != 0 }
        func note() { SharedWord32(at: word).store(1) }
    }
}
