import SpaceEngine
import SpaceSystem
import SystemPackage

/// The log of a namespace that several machines share, reached through the daemon of this root.
///
/// Guarantees: a commit is made here only after the daemon has said that its entry is in the log. A process waits for
/// the daemon while it holds the gate, so all waits of a transaction together end before others run out of time for the
/// gate. The daemon answers without the gate. If many processes wait for a stopped daemon one after the other, their
/// waits add up. So a process that has not heard from the daemon lately waits only briefly for its answer, and then
/// waits outside of the gate.
///
/// An entry that was sent and not answered may be in the log: the process gives up its transaction, and the daemon's
/// replica shows the entry if it is there.
final class DaemonLog: CommitLog {
    /// How long a transaction waits for the daemon in all; the gate's time-out is 5 s unless a caller says otherwise.
    private static let patience = Duration.seconds(4)
    /// For how long a daemon that has answered counts as one that answers.
    private static let freshness = Duration.seconds(1)
    /// How long the daemon may need for its word under the gate.
    private static let wordPatience = Duration.milliseconds(100)
    /// The most entries that a writer applies before its own changes; what is more, the daemon applies.
    private static let mostEntries: UInt64 = 1000

    private let client: DaemonClient
    /// What the daemon itself uses instead of a connection.
    private let own: (@Sendable () -> any DaemonExchange)?
    private var connection: (any DaemonExchange)?
    private var deadline = MonotonicInstant.now
    /// The pen's revision, and the log's last entry, as of this transaction.
    private var pen: Int64 = 0
    private var head: UInt64 = 0
    /// Whether this transaction has the pen and has not used it.
    private var mustRelease = false

    init(_ client: DaemonClient) {
        self.client = client
        own = client.ownExchange
    }

    var title: String { "of its machines" }
    var hasMembers: Bool { true }

    // MARK: Acquiring

    func acquire(behind position: LogPosition) throws(SpaceError) {
        if own == nil, !client.hasAnswered(within: Self.freshness) { try hearFromDaemon() }
        deadline = MonotonicInstant.now.advanced(by: Self.patience)
        try fetchPen(behind: position)
        guard head - position.entry <= Self.mostEntries else {
            throw .clusterUnavailable("its replica here is \(head - position.entry) entries behind the other machines")
        }
    }

    /// Refuses a transaction whose daemon does not answer at once; it begins again when its process has heard of the daemon,
    /// without the gate.
    private func hearFromDaemon() throws(SpaceError) {
        deadline = MonotonicInstant.now.advanced(by: Self.wordPatience)
        let hello = DaemonRequest.hello(life: client.life.number, name: client.name)
        do throws(Errno) {
            _ = try exchange(hello, anew: hello)
        } catch {
            guard error == .timedOut else { throw .noDaemon(client.root, error) }
            throw .memberEnded(Self.silence)
        }
    }

    /// Gets the pen, and how far the log goes.
    private func fetchPen(behind position: LogPosition) throws(SpaceError) {
        switch try ask(.pen(behind: position.entry), anew: .pen(behind: position.entry)) {
        case .pen(let revision, let head):
            (pen, self.head, mustRelease) = (revision, head, true)
        case let answer: throw answer.refusal ?? broken()
        }
        guard head >= position.entry else {
            throw .clusterUnavailable(
                "its replica here is ahead of the machines' log (entry \(position.entry), and the log's last is \(head))"
            )
        }
    }

    func release() {
        guard mustRelease else { return }
        mustRelease = false
        do throws(Errno) {
            try connection?.send(.release, until: deadline)
        } catch {
            connection = nil
        }
    }

    // MARK: Entries

    func forEachEntry(
        behind position: LogPosition,
        _ visit: (UnsafeRawBufferPointer, (LogPosition, LogMoment)?) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Bool {
        var position = position
        guard position.entry < head else { return true }
        // One answer has as many as are applied at once.
        let entries: [[UInt8]]
        switch try ask(.entries(behind: position.entry), anew: nil) {
        case .entries(let list): entries = list
        case let answer: throw answer.refusal ?? broken()
        }
        guard !entries.isEmpty else { throw broken() }
        for bytes in entries {
            let entry = try EntryBytes(bytes)
            guard entry.number == position.entry + 1, entry.linkBefore == position.link else {
                throw .entryDoesNotFollow(entry.number, position.entry)
            }
            try entry.forEachPart { (part) throws(SpaceError) in try visit(part, nil) }
            position = LogPosition(entry: entry.number, end: 0, link: entry.link)
            try visit(UnsafeRawBufferPointer(start: nil, count: 0), (position, entry.moment))
        }
        return position.entry >= head
    }

    /// Appends an entry, with another turn of the pen if need be.
    ///
    /// An entry is refused if the pen has gone to another machine meanwhile, because the transaction's body or this process
    /// took long. If that machine has written nothing, the entry still fits, and is appended when the pen is back. If the pen
    /// does not come back, for whatever reason, the entry stays refused: a transaction's body has run, and no other error
    /// may let it run again.
    func append(_ entry: LogEntry, behind position: LogPosition, _ terms: AppendTerms) throws(SpaceError) -> Bool {
        while try !appendOnce(entry, behind: position, terms) {
            // The member may be the reason, and stays one.
            guard terms.absentMember == 0 else { return false }
            do throws(SpaceError) { try fetchPen(behind: position) } catch { return false }
            guard head == position.entry else { return false }
        }
        return true
    }

    private func appendOnce(
        _ entry: LogEntry,
        behind position: LogPosition,
        _ terms: AppendTerms
    ) throws(SpaceError) -> Bool {
        mustRelease = false
        let request = DaemonRequest.append(
            behind: position.entry,
            pen: pen,
            absentMember: terms.absentMember,
            entry: entry.bytes
        )
        let answer: DaemonAnswer
        do throws(Errno) {
            answer = try exchange(request)
        } catch {
            connection = nil
            throw .outcomeUnknown("the daemon of this machine did not answer (\(error.told))")
        }
        switch answer {
        case .done: return true
        case .refused: return false
        case .unavailable, .unknown, .gone: throw answer.error
        default:
            connection = nil
            throw .answerDoesNotFit
        }
    }

    // MARK: The connection

    private func broken() -> SpaceError {
        connection = nil
        return .clusterUnavailable(DaemonAnswer.unfitting)
    }

    /// Why there is no answer in time: the daemon may wait for the others.
    private static let silence =
        "the daemon of this machine has no answer in time: it is stopped, or the cluster does not answer it"

    /// Sends a request that may be sent twice, and returns the answer.
    private func ask(_ request: DaemonRequest, anew: DaemonRequest?) throws(SpaceError) -> DaemonAnswer {
        do throws(Errno) { return try exchange(request, anew: anew) } catch {
            if error == .timedOut { throw .clusterUnavailable(Self.silence) }
            throw .noDaemon(client.root, error)
        }
    }

    /// Sends a request that may be sent twice, and returns the answer.
    ///
    /// If the connection has ended since its last use, it is made again, and the request `anew` is sent on it if there
    /// is one.
    private func exchange(_ request: DaemonRequest, anew: DaemonRequest?) throws(Errno) -> DaemonAnswer {
        let hadConnection = connection != nil
        do throws(Errno) {
            if connection == nil, let own {
                connection = own()
            } else if connection == nil {
                let (made, answer) = try DaemonConnection.open(
                    client.root,
                    life: client.life,
                    name: client.name,
                    until: deadline
                )
                guard let made else { return answer }
                connection = made
            }
            return try exchange(request)
        } catch {
            connection = nil
            guard error != .timedOut, hadConnection, let anew else { throw error }
            return try exchange(anew, anew: nil)
        }
    }

    private func exchange(_ request: DaemonRequest) throws(Errno) -> DaemonAnswer {
        guard let connection else { throw .connectionReset }
        let answer = try connection.exchange(request, until: deadline)
        client.noteAnswer()
        return answer
    }
}
