import Glibc
import SharedSpaceObjects
import SpaceSystem

/// The objects that the process has open, and the commands that it knows.
///
/// Everything but waiting tasks happens on its first thread.
@MainActor
final class Agent {
    private(set) var handle: Namespace?
    var space: Space?
    var claims: [HeldClaim] = []
    var observations: [ObservationToken] = []
    var held: [Name: Held] = [:]
    var leaderships: [Leading] = []
    var items: [Working] = []
    var ledger: LedgerFile?
    var changes: Changes?
    var spaceChanges: SpaceChanges?
    var copy: Copy?
    var posters: [Poster] = []
    /// Watchers that are never asked for a change.
    var idle: [Changes] = []
    var observed: Observed?
    var responders: [ResponderToken] = []
    var behaviour = Behaviour()
    var set: SharedOrderedSet<Int>?
    var observedSet: ObservedSet?
    var dictionary: SharedDictionary<Int>?
    var follower: Follower?

    struct Failure: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private let parent = getppid()

    /// Whether loops go on: there is no `stop` tuple, and the parent, which would write it, is alive.
    func goesOn(_ namespace: Namespace) throws -> Bool {
        try getppid() == parent && namespace.readIfExists("stop") == nil
    }

    func namespace() throws -> Namespace {
        guard let handle else { throw Failure("nothing is open") }
        return handle
    }

    func obey(_ line: String) async {
        var words = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        guard !words.isEmpty else { return }
        let command = words.removeFirst()
        // The text after the command and a number of words is JSON, spaces included.
        do {
            if let answer = try await suspending(command, words) ?? perform(command, words) { say(answer) }
        } catch {
            say(describe(error))
        }
    }

    private func perform(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "open": try open(words)
        case "leave": try leave()
        case "drop": handle = nil
        case "arm": try arm(words)
        case "leave-out": Safeguard.leaveOut(try safeguard(words))
        case "exit": exit(0)
        case "names": return "ok " + (try root().namespaceNames().joined(separator: " "))
        case "reap": return "ok " + (try root().reap().joined(separator: " "))
        case "end-life": return try endLife(words)
        case "enrol": try namespace().addOwner(pid: try number(words, 0))
        case "persist": try namespace().setPersistent(true)
        case "unpersist": try namespace().setPersistent(false)
        case "measure": try namespace().setMeasuringLatency(try word(words, 0) == "on")
        case "ledger": ledger = try LedgerFile(try word(words, 0))
        default:
            return try performOnTuples(command, words) ?? performOnClaims(command, words)
                ?? performOnRecipes(command, words)
                ?? performInBulk(command, words)
                ?? performInCrowds(command, words)
                ?? performFilling(command, words)
                ?? performLoading(command, words)
                ?? performEverything(command, words)
                ?? performOnProcess(command, words)
        }
        return "ok"
    }

    // MARK: Opening

    private func root() throws -> Space {
        guard let space else { throw Failure("no space is open") }
        return space
    }

    /// `open <root> <name> [owning=0] [creates=0] [timeout=<ms>] [mode=<mode>] [persistent=1] [limit=<bytes>]
    /// [history=<changes>] [group=<gid>] [replicated=1] [local=1]`.
    private func open(_ words: [String]) throws {
        var settings: [String: String] = [:]
        for setting in words.dropFirst(2) {
            let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Failure("\(setting) is no setting") }
            settings[parts[0]] = parts[1]
        }
        let timeout = Duration.milliseconds(settings["timeout"].flatMap(Int.init) ?? 20_000)
        let space = try Space(root: try word(words, 0), timeout: timeout)
        self.space = space
        var options = NamespaceOptions()
        options.mode = settings["mode"].flatMap(StorageMode.init)
        options.isPersistent = settings["persistent"] == "1"
        options.isReplicated = settings["replicated"] == "1"
        options.isLocal = settings["local"] == "1"
        options.byteLimit = settings["limit"].flatMap(Int.init)
        options.group = settings["group"].flatMap(UInt32.init)
        options.history = settings["history"].flatMap(Int.init).map { History(changes: $0) }
        let name = try word(words, 1)
        let isOwning = settings["owning"] != "0"
        handle =
            settings["creates"] == "0"
            ? try space.existingNamespace(name, owning: isOwning)
            : try space.namespace(name, owning: isOwning, options: options)
    }

    private func leave() throws {
        try namespace().leave()
        handle = nil
    }

    /// `end-life delete|aside`: deletes the life of the open namespace, or sets it aside, as a daemon does a replica.
    private func endLife(_ words: [String]) throws -> String {
        let namespace = try namespace()
        let remover = NamespaceRemover(root: try root().spaceRoot, timeout: .seconds(20))
        let name = try NamespaceName(namespace.name)
        guard try word(words, 0) == "aside" else {
            return "ok \(try remover.delete(name, of: namespace.life, host: try .current()))"
        }
        return try remover.setAside(name, of: namespace.life, into: ".aside", host: try .current()).map { "ok \($0)" }
            ?? "none"
    }

    /// `arm kill|stop <point> [<count>]`.
    private func arm(_ words: [String]) throws {
        guard let point = CrashPoint(rawValue: try word(words, 1)) else { throw Failure("no such point") }
        let count: Int = words.count > 2 ? try number(words, 2) : 1
        CrashPoint.arm(point, count: count, action: words[0] == "stop" ? .stop : .kill)
    }

    private func safeguard(_ words: [String]) throws -> Safeguard {
        guard let safeguard = Safeguard(rawValue: try word(words, 0)) else { throw Failure("no such safeguard") }
        return safeguard
    }

    // MARK: Words

    func word(_ words: [String], _ index: Int) throws -> String {
        guard words.indices.contains(index) else { throw Failure("a word is missing") }
        return words[index]
    }

    func number<I: FixedWidthInteger>(_ words: [String], _ index: Int) throws -> I {
        guard let number = I(try word(words, index)) else { throw Failure("\(words[index]) is no number") }
        return number
    }

    /// The words from one on, which were split at spaces.
    func rest(_ words: [String], from index: Int) -> String { words.dropFirst(index).joined(separator: " ") }

    func template(_ words: [String], from index: Int) throws -> Template {
        try Template(json: rest(words, from: index))
    }

    func describe(_ error: any Error) -> String {
        switch error {
        case let error as SpaceError: "error \(error.code) \(error.holder ?? 0) \(error)"
        case let failure as Failure: "error agent 0 \(failure.text)"
        default: "error other 0 \(error)"
        }
    }
}

/// Prints a line, at once.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
