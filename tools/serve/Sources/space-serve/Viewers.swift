import Synchronization

/// The pages that are open, and the looks that all of them show.
///
/// `space top` runs while a page is open, and not otherwise: a server without an open page costs nothing.
final class Viewers: Sendable {
    let space: SpaceProgram
    private let limit: Int
    private let state = Mutex(State())

    private struct State {
        var mailboxes: [Int: Mailbox] = [:]
        var next = 0
        var looking: Task<Void, Never>?
        /// The newest look, as it is sent.
        var look: String?
        /// The namespaces of the newest look, and how many of their processes wait for another.
        var waits: [Look.Namespace] = []
        var isClosed = false
    }

    /// What the server itself reads of a look.
    struct Look: Decodable {
        struct Namespace: Decodable {
            let name: String
            let waits: Int?
        }

        let namespaces: [Namespace]
    }

    init(_ space: SpaceProgram, limit: Int) {
        self.space = space
        self.limit = limit
    }

    /// Opens a page's events; `nil` if too many are open.
    func open(_ view: View) -> Mailbox? {
        guard let mailbox = Mailbox() else { return nil }
        let number: Int? = state.withLock { state in
            guard !state.isClosed, state.mailboxes.count < limit else { return nil }
            state.next += 1
            state.mailboxes[state.next] = mailbox
            if let look = state.look { mailbox.put(.look, look) }
            if state.looking == nil { state.looking = Task { await self.look() } }
            return state.next
        }
        guard let number else { return nil }
        let viewer = Viewer(view, mailbox, self)
        let task = Task { await viewer.run() }
        mailbox.onClose { [weak self] in
            task.cancel()
            self?.close(number)
        }
        return mailbox
    }

    private func close(_ number: Int) {
        state.withLock { state in
            state.mailboxes[number] = nil
            guard state.mailboxes.isEmpty else { return }
            state.looking?.cancel()
            state.looking = nil
            // The next page must not begin with an old look.
            state.look = nil
            state.waits = []
        }
    }

    /// Ends the events of all pages; none can be opened from then on.
    func close() {
        let mailboxes = state.withLock { state in
            state.isClosed = true
            return Array(state.mailboxes.values)
        }
        for mailbox in mailboxes { mailbox.close() }
    }

    /// The namespaces in which processes wait for others, as the newest look shows them.
    var namespacesWithWaits: [String] {
        state.withLock { $0.waits }.filter { ($0.waits ?? 0) > 0 }.map(\.name)
    }

    // MARK: Looks

    /// The most bytes of a look: several thousand namespaces and processes.
    private static let longestLook = 4 << 20

    private func look() async {
        while !Task.isCancelled {
            let problem: String
            do throws(Failure) {
                let ending = try await space.run("top", ["--json", "--interval=1s"], longest: Self.longestLook) {
                    line in
                    self.show(line)
                }
                problem = ending.message
            } catch {
                problem = error.message
            }
            if Task.isCancelled { return }
            let json = JSON.text(["message": problem])
            for mailbox in state.withLock({ Array($0.mailboxes.values) }) { mailbox.put(.problem, json) }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func show(_ line: String) {
        guard let look: Look = JSON.value(line) else { return }
        let json = "{\"own\":\(JSON.text(space.pids)),\"look\":\(line)}"
        let mailboxes = state.withLock { state in
            // The last page has closed, and the look comes too late.
            if state.mailboxes.isEmpty { return [Mailbox]() }
            state.look = json
            state.waits = look.namespaces
            return Array(state.mailboxes.values)
        }
        for mailbox in mailboxes { mailbox.put(.look, json) }
    }
}
