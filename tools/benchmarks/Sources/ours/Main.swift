import Glibc
import SharedSpace

/// Measures this library: `ours FOLDER WORK COUNT [MORE]`, the works named as the floor's.
@main
enum Main {
    static func main() {
        let words = CommandLine.arguments
        guard words.count >= 4, let count = Int(words[3]), count >= 0 else {
            complain("usage: \(words.first ?? "ours") FOLDER WORK COUNT [MORE]")
            exit(64)
        }
        do {
            let space = try Space(root: words[1])
            if Self.awaiting.contains(words[2]) {
                awaitEnd(of: words[2]) { try await runTask(space, words[2], count) }
            }
            try run(space, words[2], count, Array(words.dropFirst(4)))
        } catch {
            giveUp(words[2], error)
        }
    }

    private static let awaiting = [
        "notice-watcher", "tuples", "block", "block-alike", "be-served-tasks", "await-take", "await-claim",
    ]

    private static func giveUp(_ work: String, _ error: any Error) -> Never {
        complain("ours \(work): \(error)")
        exit(70)
    }

    /// Runs awaiting works in a task; blocking works stay on the main thread, as in a plain program.
    private static func awaitEnd(of work: String, _ body: @escaping @Sendable () async throws -> Void) -> Never {
        Task {
            do { try await body() } catch { giveUp(work, error) }
            exit(0)
        }
        while true { pause() }
    }

    private static func runTask(_ space: Space, _ work: String, _ count: Int) async throws {
        switch work {
        case "notice-watcher": try await Noticing.watch(space)
        case "tuples": try await Growth.tuples(space, count)
        case "be-served-tasks": try await Served.waitAsTasks(space, count)
        case "await-take": try await OneProcess(space).awaitTakes(count)
        case "await-claim": try await OneProcess(space).awaitClaims(count)
        case "block-alike": try await Growth.blockAlike(space, count)
        default: try await Growth.block(space, count)
        }
    }

    private static func run(_ space: Space, _ work: String, _ count: Int, _ more: [String]) throws {
        switch work {
        case "leading": try OneProcess(space).leading(count)
        case "write-only": try OneProcess(space).writeOnly(count)
        case "queue" where more.count == 1: try OneProcess(space).queue(count, length: try number(more[0]))
        case "values" where more.count == 1: try OneProcess(space).values(count, size: try number(more[0]))
        case _ where work.hasPrefix("long-") && more.count == 1:
            try LongQueues(space, count, length: try number(more[0])).run(work)
        case "nothing": measure("nothing", count) { _ in }
        case "other": try OneProcess(space).other(count)
        case "claim": try OneProcess(space).claim(count)
        case "near-claim": try OneProcess(space).nearClaims(count)
        case "prepared-take": try OneProcess(space).preparedTakes(count)
        case "typed-take", "typed-claim", "untyped-take", "untyped-claim": try Calls(space).run(work, count)
        case "batch": try OneProcess(space).batch(count)
        case "get": try OneProcess(space).get(count)
        case "poll": try OneProcess(space).poll(count)
        case "read": try OneProcess(space).read(count)
        case "durable": try OneProcess.durable(space, count)
        case "hand-off-spinning": try Processes.handOff(space, count, sleeping: false)
        case "hand-off-sleeping": try Processes.handOff(space, count, sleeping: true)
        case "answer": try Processes.answer(space, count)
        case "notice-apart": try Noticing.run(space, count, isApart: true)
        case "notice-together": try Noticing.run(space, count, isApart: false)
        case "watchers": try Watchers.run(space, count)
        case "be-watched" where more.count == 1: try Watchers.watch(space, more[0], count)
        case "crowd" where more.count == 2, "crowd-spilled" where more.count == 2:
            let (producers, takers) = (try number(more[0]), try number(more[1]))
            guard producers > 0, takers > 0 else { throw Failure("a crowd has members") }
            try Crowd.run(space, count, producers: producers, takers: takers, spills: work == "crowd-spilled")
        case "served-threads": try Served.run(space, count, by: "threads")
        case "served-tasks": try Served.run(space, count, by: "tasks")
        case "be-served-threads": try Served.waitAsThreads(space, count)
        case "produce": try Crowd.produce(space, count)
        case "consume": try Crowd.take(space, count)
        case "wait" where more.count == 1: try Processes.wait(space, more[0], count)
        case "write-asked": try Processes.writeAsked(space, count)
        case "waiters": try Growth.waiters(space, count)
        case "namespaces": try Growth.namespaces(space, count)
        case "churn": try Growth.churn(space, count)
        case "values": try Growth.values(space, count)
        case "lock": try SharedObjects.lock(space, count)
        case "ordered-set": try SharedObjects.orderedSet(space, count)
        default: try Machines.run(space, work, count, more)
        }
    }
    private static func number(_ word: String) throws -> Int {
        guard let number = Int(word), number >= 0 else { throw Failure("\(word) is no number") }
        return number
    }
}
