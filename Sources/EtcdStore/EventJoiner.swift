import ClusterStore
import EtcdMessages

/// Makes a watch's news of the answers to it: joins parts, splits revisions, and drops what comes before its start.
struct EventJoiner {
    /// Whether the member has accepted the watch.
    var isCreated = false
    /// The last revision whose changes are told.
    private var told: Int64
    /// The changes of one revision of which more may come.
    private var waiting: [StoreChange] = []
    private var waitingRevision: Int64 = 0

    /// - Parameter revision: The first revision whose changes are wanted.
    init(from revision: Int64) { told = revision - 1 }

    /// The news that nothing has changed since the last ones.
    var progress: StoreNews { .progress(revision: told) }

    /// Takes an answer of the member.
    ///
    /// - Returns: The news that are complete.
    mutating func add(_ answer: EtcdWatchResponse) throws(StoreError) -> [StoreNews] {
        if answer.events.isEmpty, !answer.fragment, waiting.isEmpty {
            told = max(told, answer.header.revision)
            return [progress]
        }
        var news: [StoreNews] = []
        for event in answer.events {
            let revision = event.kv.modRevision
            guard revision > told else { continue }
            if revision != waitingRevision { finish(&news) }
            waitingRevision = revision
            waiting.append(try event.change())
        }
        if !answer.fragment { finish(&news) }
        return news
    }

    private mutating func finish(_ news: inout [StoreNews]) {
        guard !waiting.isEmpty else { return }
        news.append(.changes(waiting, revision: waitingRevision))
        told = waitingRevision
        waiting = []
    }
}
