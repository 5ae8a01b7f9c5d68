import Synchronization

/// What is done for one page: it looks, and puts what it sees into the page's mailbox.
struct Viewer: Sendable {
    private let view: View
    private let mailbox: Mailbox
    private let viewers: Viewers

    private var space: SpaceProgram { viewers.space }

    /// The most tuples and cells that a page shows.
    static let most = 200

    /// How long a page may leave its events lie before it is taken for gone.
    private static let patience = Duration.seconds(30)

    init(_ view: View, _ mailbox: Mailbox, _ viewers: Viewers) {
        self.view = view
        self.mailbox = mailbox
        self.viewers = viewers
    }

    /// Looks until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await beat() }
            switch view {
            case .top: break
            case .waits: group.addTask { await drawWaits() }
            case .namespace(let name, let template):
                let news = Mutexed(true)
                group.addTask { await follow(name, news) }
                group.addTask { await read(name, template, news) }
            }
        }
    }

    /// Sleeps; returns whether the task goes on.
    private static func pause(_ duration: Duration) async -> Bool {
        (try? await Task.sleep(for: duration)) != nil
    }

    private func beat() async {
        while await Self.pause(.seconds(5)) {
            if mailbox.isStalled(for: Self.patience) { return mailbox.close() }
            mailbox.beat()
        }
    }

    // MARK: Who waits for whom

    private struct Picture: Encodable {
        let name: String
        let svg: String
    }

    /// The most namespaces whose waits are drawn, and the most bytes of a picture's lines.
    private static let mostPictures = 12
    private static let longestPictureLine = 64 << 10
    private static let longestPicture = 512 << 10

    private func drawWaits() async {
        var last: String?
        repeat {
            var pictures: [Picture] = []
            for name in viewers.namespacesWithWaits.prefix(Self.mostPictures) {
                let seen = try? await space.lines("show", ["--svg", "--", name], longest: Self.longestPictureLine)
                guard let (lines, ending) = seen, ending.isDone else { continue }
                let svg = lines.joined(separator: "\n")
                if svg.utf8.count <= Self.longestPicture { pictures.append(Picture(name: name, svg: svg)) }
            }
            let json = JSON.text(pictures)
            if json != last { mailbox.put(.graph, json) }
            last = json
        } while await Self.pause(.seconds(1))
    }

    // MARK: A namespace

    /// Follows the changes, from life to life of the namespace.
    private func follow(_ name: String, _ news: Mutexed<Bool>) async {
        repeat {
            // Without a time --wait waits for a namespace that is not there, and ends with the namespace.
            let ending = try? await space.run("watch", [name, "--wait"], longest: 2000) { line in
                mailbox.add(change: line)
                news.change { $0 = true }
            }
            if let ending, !ending.isDone, !Task.isCancelled {
                mailbox.put(.problem, JSON.text(["message": ending.message]))
            }
        } while await Self.pause(.seconds(1))
    }

    private struct Tuples: Encodable {
        var lines: [String] = []
        var isCut = false
        var problem: String?
        /// Whether the namespace is missing.
        var isGone = false
    }

    /// Reads the tuples, the cells and the status: after a change, and every two seconds, because a wait is no change.
    private func read(_ name: String, _ template: String, _ news: Mutexed<Bool>) async {
        var last: [Mailbox.Snapshot: String] = [:]
        func put(_ snapshot: Mailbox.Snapshot, _ json: String) {
            if last[snapshot] != json { mailbox.put(snapshot, json) }
            last[snapshot] = json
        }
        var round = 0
        repeat {
            let isNew = news.change { news in
                defer { news = false }
                return news
            }
            defer { round += 1 }
            guard isNew || round % 4 == 0 else { continue }
            let few = ["--owner=none", "--max=\(Self.most + 1)"]
            put(.tuples, JSON.text(await list("read", few + ["--", name, template])))
            put(.cells, JSON.text(await list("get", few + ["--keys=*", "--", name])))
            if let (lines, ending) = try? await space.lines("show", ["--json", "--", name], longest: 1 << 20),
                ending.isDone, let line = lines.first
            {
                put(.status, line)
            }
        } while await Self.pause(.milliseconds(500))
    }

    private func list(_ command: String, _ words: [String]) async -> Tuples {
        do throws(Failure) {
            let (lines, ending) = try await space.lines(command, words)
            var tuples = Tuples(lines: Array(lines.prefix(Self.most)), isCut: lines.count > Self.most)
            tuples.isGone = ending.status == Failure.unavailable
            if !ending.isDone, !ending.isNothing { tuples.problem = ending.message }
            return tuples
        } catch {
            return Tuples(problem: error.message)
        }
    }
}
