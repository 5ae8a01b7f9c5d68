// Loads a space with processes that are killed, and audits the result. tools/torture builds and runs it.
//
// Prints one JSON object; exits 1 if anything was lost, doubled, late or can't be explained.

import Glibc
import SharedSpace
import SpaceSystem

@main
struct Torture {
    static func main() {
        // Everything forks before a thread is started or a file opened: a child must not use anything of its parent's.
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if let safeguard = options.leftOut { Safeguard.leaveOut(safeguard) }
            var reports: [Report] = []
            for part in options.parts {
                note("\(part): \(options.seconds) s, \(options.processes) processes, seed \(options.seed)")
                // In a process of its own, so that every part begins before the first thread.
                reports.append(try Report.ofChild { try part.run(options, $0) })
            }
            let isGood = reports.allSatisfy(\.isGood)
            var result: JSONObject = [
                "seed": Int(truncatingIfNeeded: options.seed), "seconds": options.seconds,
                "processes": options.processes,
            ]
            for report in reports { result.add(report.part, RawJSON(report.json)) }
            result.add("good", isGood)
            print(result.json)
            exit(isGood ? 0 : 1)
        } catch let error as UsageError {
            note(error.text)
            exit(64)
        } catch {
            note("\(error)")
            exit(70)
        }
    }
}

enum Part: String, CaseIterable {
    case kill, near, handoff, history, stop, exhaust, reap, disk, recipes, collections, responders, objects, queue,
        churn,
        hostile, words, surroundings, damage, terminal, cluster

    /// All but the one that needs etcd.
    static let ofOneMachine = allCases.filter { $0 != .cluster }

    /// Runs the part in this process, which may end with it.
    func run(_ options: Options, _ report: (Report) throws -> Void) throws {
        switch self {
        case .kill: try KillPart(options).run(report)
        case .near: try NearPart(options).run(report)
        case .churn: try ChurnPart(options).run(report)
        case .handoff: try HandOffPart(options).run(report)
        case .recipes: try RecipesPart(options).run(report)
        case .cluster: try ClusterPart(options).run(report)
        case .history: try report(HistoryPart(options).run())
        case .collections: try report(CollectionsPart(options).run())
        case .responders: try report(RespondersPart(options).run())
        case .objects: try report(ObjectsPart.ofObjects(options).run())
        case .queue: try report(ObjectsPart.ofQueues(options).run())
        case .stop: try report(StopPart(options: options).run())
        case .exhaust: try report(ExhaustPart(options: options).run())
        case .reap: try report(ReapPart(options: options).run())
        case .disk: try report(DiskPart(options: options).run())
        case .hostile: try report(HostilePart(options: options).run())
        case .words: try report(WordsPart(options: options).run())
        case .surroundings: try report(SurroundingsPart(options: options).run())
        case .damage: try report(DamagePart(options: options).run())
        case .terminal: try report(TerminalPart(options: options).run())
        }
    }
}

/// Reports progress on standard error.
func note(_ text: String) {
    // One write(2), so that the lines of many processes stay lines.
    let line = Array("torture: \(text)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Counts a fault, and describes it while there are few.
func noteFault(_ word: SharedWord64, _ text: @autoclosure () -> String) {
    if word.add(1) < 8 { note(text()) }
}
