import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport

/// Scenes that are played again and again, each round in a root of its own and with numbers of its own, which the seed
/// gives.
///
/// Each player is a real process that obeys commands, and may be stopped and killed; this process opens no namespace,
/// so that a scene may fork too. A wrong result in a scene is a fault, and the next round goes on.
struct Rounds {
    struct Scene {
        let name: String
        let play: (Round) throws -> Void

        init(_ name: String, _ play: @escaping (Round) throws -> Void) {
            self.name = name
            self.play = play
        }
    }

    /// The scene can't be played here, for a reason that the report names.
    struct Skipped: Error {
        let reason: String
    }

    let part: Part
    let options: Options

    /// Plays the scenes in an order of the seed's until the time has passed, or until a planted fault was found.
    func report(_ all: [Scene], prepare: (Round) throws -> Void = { _ in }) -> Report {
        let scenes = all.filter { options.scene == nil || options.scene == $0.name }
        if scenes.isEmpty {
            note("no such scene; there are \(all.map(\.name))")
            exit(64)
        }
        var generator = SeededGenerator(seed: options.seed)
        let start = MonotonicInstant.now
        var played = [Int](repeating: 0, count: scenes.count)
        var faults: [String] = []
        var skipped: [Int: String] = [:]
        var races = 0
        var slowest = Duration.zero
        var order: [Int] = []
        // A planted fault may show in any of them, however long the others take.
        var isUnplayed: Bool { scenes.indices.contains { played[$0] == 0 && skipped[$0] == nil } }
        while MonotonicInstant.now.duration(since: start) < .seconds(options.seconds) || options.isToFail && isUnplayed,
            skipped.count < scenes.count, faults.isEmpty || !options.isToFail
        {
            if order.isEmpty { order = scenes.indices.filter { skipped[$0] == nil }.shuffled(using: &generator) }
            let scene = order.removeLast()
            let name = scenes[scene].name
            do {
                let round = try Round(options, seed: generator.next())
                do {
                    try prepare(round)
                    try scenes[scene].play(round)
                    round.end()
                } catch let error as Skipped {
                    skipped[scene] = "\(name): \(error.reason)"
                    continue
                } catch {
                    round.fault("\(error)")
                }
                played[scene] += 1
                races += round.races
                slowest = max(slowest, round.slowestRefusal)
                faults += round.faults.map { "\(name), round \(played[scene]): \($0)" }
            } catch {
                faults.append("\(name): \(error)")
            }
        }
        for fault in faults.prefix(8) { note(fault) }

        var byScene: JSONObject = [:]
        for (index, scene) in scenes.enumerated() { byScene.add(scene.name, played[index]) }
        let object: JSONObject = [
            "rounds": played.reduce(0, +), "roundsByScene": byScene, "races": races,
            "slowestRefusalMs": slowest.wholeMilliseconds, "skipped": skipped.values.sorted(),
            "faults": Array(faults.prefix(100)),
        ]
        return Report(part.rawValue, isGood: faults.isEmpty, object)
    }
}

/// One time that a scene is played: its root, its numbers, and its faults.
final class Round {
    let root: TemporaryRoot
    let options: Options
    var generator: SeededGenerator
    private(set) var faults: [String] = []
    /// How often two processes were started at the same time.
    var races = 0
    /// The longest that a process waited to be told of a stopped holder.
    private(set) var slowestRefusal = Duration.zero
    private var cast: [Agent] = []
    private var opened = 0
    /// Undone when the round ends, also when it ends early.
    var atEnd: () -> Void = {}

    /// How long processes that are to be refused a lock wait for it, in milliseconds.
    static let patience = 150

    init(_ options: Options, seed: UInt64) throws {
        self.options = options
        root = try TemporaryRoot(in: options.folder)
        generator = SeededGenerator(seed: seed)
    }

    deinit { atEnd() }

    func fault(_ text: String) { faults.append(text) }

    /// Whether a planted fault was found, which ends the run.
    var hasFound: Bool { options.isToFail && !faults.isEmpty }

    func check(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { fault(text()) }
    }

    func random<N: FixedWidthInteger>(_ range: Range<N>) -> N { N.random(in: range, using: &generator) }
    func coin() -> Bool { Bool.random(using: &generator) }
    func one<Element>(of elements: [Element]) -> Element { elements[random(0..<elements.count)] }

    // MARK: Players

    /// A process that has nothing open yet; it lives until the round ends, even if the scene no longer mentions it.
    func newcomer() throws -> Agent {
        let agent = try Agent()
        cast.append(agent)
        if let safeguard = options.leftOut { try agent.run("leave-out \(safeguard)") }
        return agent
    }

    /// A process that has the namespace open.
    func player(_ options: String = "", in name: String = "n") throws -> Agent {
        let agent = try newcomer()
        try agent.open(root, name, options)
        opened += 1
        // The planted fault, which no process may commit and every scene must notice.
        if opened == 2, self.options.plant == .vanished { try root.removeTree(name) }
        return agent
    }

    /// The options with which `player` opens, when its patience is that of a round.
    func opening(_ name: String = "n") -> String { "open \(root.path) \(name) timeout=\(Self.patience)" }

    /// Sends a command, and checks that the answer is this.
    func expect(_ agent: Agent, _ command: String, _ answer: String, _ comment: String = "") throws {
        let said = try agent.ask(command)
        check(said == answer, "\(command) said \(said) and not \(answer) \(comment)")
    }

    /// Checks that the next line is this.
    func expect(_ agent: Agent, says line: String) throws {
        let said = try agent.line() ?? "nothing more"
        check(said == line, "heard \(said) and not \(line)")
    }

    /// Sends all commands at once, and checks that each is refused with an error that names the stopped process.
    func refused(_ asked: [(Agent, String)], by holder: Agent, while what: String) throws {
        let start = MonotonicInstant.now
        for (agent, command) in asked { try agent.send(command) }
        for (agent, command) in asked {
            let said = try agent.line() ?? "nothing more"
            check(
                said.hasPrefix("error holderStopped \(holder.pid) "),
                "\(command), while \(holder.pid) stands at \(what), said \(said)"
            )
        }
        slowestRefusal = max(slowestRefusal, MonotonicInstant.now.duration(since: start))
    }

    /// Repeats a command until no lock is in the way any more, for players that have little patience and go on
    /// afterwards.
    @discardableResult
    func goOn(_ agent: Agent, _ command: String) throws -> String {
        for _ in 0..<100 {
            let said = try agent.ask(command)
            if said.hasPrefix("error holder") { continue }
            check(said.hasPrefix("ok"), "\(command), when all could go on, said \(said)")
            return said
        }
        fault("\(command) was refused when all could go on")
        return ""
    }

    /// Sends two commands almost at the same time, in a random order.
    func race(_ first: (Agent, String), _ second: (Agent, String)) throws {
        let order = coin() ? [first, second] : [second, first]
        try order[0].0.send(order[0].1)
        let pause = random(0..<3) == 0 ? 0 : random(0..<1500)
        if pause > 0 { usleep(UInt32(pause)) }
        try order[1].0.send(order[1].1)
        races += 1
    }

    /// Ends a process by a kill, or lets it end by itself.
    func finish(_ agent: Agent) throws {
        if coin() { try agent.kill() } else { try agent.exit() }
    }

    /// Checks that a namespace and everything around it go with their last owner.
    func end() {
        // Processes that still run are killed.
        cast = []
        do {
            let names = try root.space.namespaceNames()
            check(names.isEmpty, "left behind: \(names)")
        } catch {
            fault("\(error)")
        }
        check(root.leftovers.isEmpty, "left behind: \(root.leftovers)")
    }
}

extension Duration {
    var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
}
