import ClusterStore
import ClusterStoreTesting
import Glibc
import SpaceCluster
import SpaceSystem
import Synchronization
import SystemPackage

// space-test-store SOCKET: a store in memory for several processes, as a cluster's etcd would be.
//
// It listens at the path, prints "ready", and serves each SocketStore; leases end by real time, but for the time in which this
// program does not run. It ends when its standard input ends. A line on standard input does
// something to the store, and is answered by "done":
//
//   end MACHINE      ends the lease of the member that a machine is now
//   cut              ends all connections
//   silence          lets the watches that there are tell nothing more
//   looks            counts from now on the looks at namespaces' lives and heads
//   leader no|yes    takes the leader away, or gives the store one again
//   compact          forgets the changes up to the store's revision
//   save, restore    notes the store as it is; sets it back to that
//   lose N           the next N transactions are done, and their answers are lost
//   hold N           the next N transactions that append an entry are done, and their answers wait for `release`
//   release          lets those answers go
//   drop N           the next N transactions are lost before they are done
//   twice N          the next N transactions are done twice
//   trouble TEXT     says from now on that this is wrong with it
//   refuse N         the next N transactions that append an entry are refused, as by a store that is full
//   full N           the next N transactions that note a deletion are refused, as by a store that is full
//   remove KEY       deletes the keys of which this is a part; * in it stands for anything, as below
//   spoil KEY        gives them a value that does not decode
//   copy KEY KEY     gives those of the second the value of the first one's; if there is none yet, it is made
//   put KEY TEXT     gives a key this value
//
// Others are answered by a number:
//
//   watches          how many watches there are
//   looked, alone    how many of the looks that are counted were made, and how many of them at one namespace alone
//   revision         how many transactions have changed the store
//   keys TEXT        how many keys have this text in them

@main
enum Main {
    static func main() {
        do {
            guard CommandLine.arguments.count == 2 else {
                say("usage: space-test-store SOCKET", .standardError)
                exit(64)
            }
            let house = try StoreHouse(at: CommandLine.arguments[1])
            try DetachedThread.start { house.tick() }
            say("ready")
            while let line = readLine() { say(house.obey(line)) }
            unlink(CommandLine.arguments[1])
        } catch {
            say("space-test-store: \(error)", .standardError)
            exit(1)
        }
    }

    private static func say(_ line: String, _ place: FileDescriptor = .standardOutput) {
        _ = try? place.writeAll("\(line)\n".utf8)
    }
}

/// The store, its connections, and its faults.
private final class StoreHouse: Sendable {
    private struct State {
        var saved: MemoryStore.Checkpoint?
        var gate = MemoryGate()
        /// How many namespaces each look was at.
        var looks: [Int] = []
    }

    private let store = MemoryStore()
    private let server: SocketStoreServer
    private let state = Mutex(State())

    init(at path: String) throws(Errno) { server = try SocketStoreServer(store, at: path) }

    /// How far the clock moves at most with one tick: a machine that is as slow as this program then keeps its lease.
    private static let longestTick = Duration.milliseconds(200)

    /// Moves the store's clock with real time, and lets watches say now and then that nothing has changed.
    func tick() {
        var last = MonotonicInstant.now
        var ticks = 0
        while true {
            // Nothing waits for this: it is the tick of a clock.
            usleep(100_000)
            let now = MonotonicInstant.now
            store.advance(by: min(now.duration(since: last), Self.longestTick))
            last = now
            ticks += 1
            if ticks % 10 == 0 { store.sendProgress() }
        }
    }

    func obey(_ line: String) -> String {
        let words = line.split(separator: " ")
        let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
        switch words.first {
        case "cut": server.cut()
        case "silence": store.silenceWatches()
        case "watches": return "\(store.watchCount)"
        case "looks":
            state.withLock { $0.looks = [] }
            store.setFault { [self] call in
                if case .transact(let transaction) = call, let heads = transaction.headsLookedAt {
                    state.withLock { $0.looks.append(heads) }
                }
                return .none
            }
        case "looked": return "\(state.withLock { $0.looks.count })"
        case "alone": return "\(state.withLock { $0.looks.count { $0 == 1 } })"
        case "end":
            let ended = store.endLeases { row in
                row.key.contains("/members/") && (try? MemberValue(decoding: row.value))?.machine == String(words[1])
            }
            return ended ? "done" : "no such machine"
        case "leader": store.setLeader(words.last == "yes")
        case "compact": store.compact()
        case "trouble": store.setTroubles([words.dropFirst().joined(separator: " ")])
        case "save": state.withLock { $0.saved = store.checkpoint() }
        case "restore":
            guard let saved = state.withLock({ $0.saved }) else { return "nothing is saved" }
            store.restore(saved)
        case "refuse": fault(count, .fails(.refused("it is full")), where: { $0.puts("/log/") })
        case "full": fault(count, .fails(.refused("it is full")), where: { $0.puts("/gone/") })
        case "lose": fault(count, .answerLost)
        case "hold": fault(count, .heldAfter(state.withLock { $0.gate }), where: { $0.puts("/log/") })
        case "release":
            let gate = state.withLock { state in
                defer { state.gate = MemoryGate() }
                return state.gate
            }
            gate.open()
        case "drop": fault(count, .requestLost)
        case "twice": fault(count, .twice)
        case "remove": store.change(keys(words[1]).map { .delete(.key($0)) })
        case "spoil": store.change(keys(words[1]).map { .put($0, [7, 7, 7], .none) })
        case "copy":
            guard let value = keys(words[1]).first.flatMap({ store.value(of: $0) }) else { return "nothing to copy" }
            let targets = keys(words[2])
            store.change((targets.isEmpty ? [String(words[2])] : targets).map { .put($0, value, .none) })
        case "put": store.change([.put(String(words[1]), Array(words[2].utf8), .none)])
        case "revision": return "\(store.revision)"
        case "keys": return "\(store.keys.count { $0.contains(words.dropFirst().joined(separator: " ")) })"
        default: return "unknown: \(line)"
        }
        return "done"
    }

    /// The keys that have all parts of a text between its stars, in their order.
    private func keys(_ text: Substring) -> [String] {
        store.keys.filter { key in
            var rest = key[...]
            for part in text.split(separator: "*") {
                guard let range = rest.firstRange(of: part) else { return false }
                rest = rest[range.upperBound...]
            }
            return true
        }
    }

    /// Gives the next transactions a fault.
    private func fault(
        _ count: Int,
        _ fault: MemoryFault,
        where isMeant: @escaping @Sendable (StoreTransaction) -> Bool = { _ in true }
    ) {
        let left = Countdown(count)
        store.setFault { call in
            guard case .transact(let transaction) = call, isMeant(transaction), left.takesOne() else { return .none }
            return fault
        }
    }
}

extension StoreTransaction {
    /// Of how many namespaces the transaction reads lives and heads, if it does nothing else.
    fileprivate var headsLookedAt: Int? {
        let keys = then.map { if case .read(.key(let key)) = $0 { key } else { "" } }
        let heads = keys.count { $0.hasSuffix("/head") }
        return compares.isEmpty && heads > 0 && keys.count { $0.contains("/id/") } + heads == keys.count ? heads : nil
    }

    /// Whether the transaction puts a key with this part, such as an entry of a log.
    fileprivate func puts(_ part: String) -> Bool {
        then.contains { operation in if case .put(let key, _, _) = operation { key.contains(part) } else { false } }
    }
}

/// How many transactions still get a fault.
private final class Countdown: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    func takesOne() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
}
