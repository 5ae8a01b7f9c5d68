import Glibc
import Synchronization

/// What waits to be sent to one page.
///
/// Guarantees: its size is bounded, whatever happens in the namespaces and however slow the page is. Of each kind of
/// snapshot only the newest waits. Of the changes the newest 200 wait, and the number of those that were dropped before
/// them. Filling it never waits, so a slow page delays no look and holds no journal.
final class Mailbox: Sendable {
    /// The kinds of snapshots, in the order in which they are sent.
    enum Snapshot: String, CaseIterable {
        case look, graph, tuples, cells, status, problem
    }

    private struct Contents {
        var snapshots: [Snapshot: String] = [:]
        var changes: [String] = []
        var dropped = 0
        var isBeating = true
        var isClosed = false
        var lastTaken = ContinuousClock.now

        var isEmpty: Bool { snapshots.isEmpty && changes.isEmpty && !isBeating }
    }

    private static let mostChanges = 200

    private let contents = Mutex(Contents())
    /// The end of a pipe that is readable while there may be something to send, or the mailbox is closed.
    let bell: Int32
    private let ringer: Int32
    private let closing = Mutex<(@Sendable () -> Void)?>(nil)

    /// `nil` if no descriptor is free.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (bell, ringer) = (ends[0], ends[1])
    }

    deinit {
        Glibc.close(bell)
        Glibc.close(ringer)
    }

    /// Makes the bell readable; a full pipe is readable already.
    private func ring() {
        var byte: UInt8 = 0
        _ = write(ringer, &byte, 1)
    }

    // MARK: Filling

    /// Puts a snapshot, one line of JSON, in the place of the one that waits.
    func put(_ snapshot: Snapshot, _ json: String) {
        contents.withLock { $0.snapshots[snapshot] = json }
        ring()
    }

    /// Adds a change as `space watch` printed it.
    func add(change: String) {
        contents.withLock { contents in
            if contents.changes.count >= Self.mostChanges {
                contents.changes.removeFirst()
                contents.dropped += 1
            }
            contents.changes.append(change)
        }
        ring()
    }

    /// Has a comment sent if nothing else is, so that a page that has gone is noticed.
    func beat() {
        contents.withLock { $0.isBeating = true }
        ring()
    }

    // MARK: Emptying

    /// What there is to send.
    enum News {
        case nothing, closed
        /// Server-sent events.
        case events(String)
    }

    /// All that waits; one caller at a time.
    func next() -> News {
        // The bell first, so that what is put from now on rings again.
        var rings = [UInt8](repeating: 0, count: 256)
        while read(bell, &rings, rings.count) == rings.count {}
        let (text, isClosed) = take()
        return isClosed ? .closed : text.map { .events($0) } ?? .nothing
    }

    private func take() -> (text: String?, isClosed: Bool) {
        let taken = contents.withLock { contents in
            let taken = contents
            contents.snapshots = [:]
            contents.changes = []
            contents.dropped = 0
            contents.isBeating = false
            contents.lastTaken = .now
            return taken
        }
        if taken.isEmpty { return (nil, taken.isClosed) }
        var text = ""
        for snapshot in Snapshot.allCases {
            if let json = taken.snapshots[snapshot] { text += "event: \(snapshot.rawValue)\ndata: \(json)\n\n" }
        }
        if !taken.changes.isEmpty {
            let json = JSON.text(ChangesEvent(dropped: taken.dropped, lines: taken.changes))
            text += "event: changes\ndata: \(json)\n\n"
        }
        return (text.isEmpty ? ":\n\n" : text, taken.isClosed)
    }

    private struct ChangesEvent: Encodable {
        let dropped: Int
        let lines: [String]
    }

    /// Whether something waits, and nothing was taken for so long.
    func isStalled(for duration: Duration) -> Bool {
        contents.withLock { !$0.isEmpty && $0.lastTaken.duration(to: .now) > duration }
    }

    // MARK: Closing

    /// Has a function called once it is closed, or at once if it is.
    func onClose(_ body: @Sendable @escaping () -> Void) {
        closing.withLock { $0 = body }
        if contents.withLock({ $0.isClosed }) { finish() }
    }

    /// Ends the events; a second call does nothing.
    func close() {
        contents.withLock { contents in
            contents = Contents()
            contents.isClosed = true
        }
        finish()
    }

    private func finish() {
        ring()
        let body = closing.withLock { closing in
            defer { closing = nil }
            return closing
        }
        body?()
    }
}
