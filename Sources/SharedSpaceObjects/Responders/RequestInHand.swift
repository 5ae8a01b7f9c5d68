/// A request that a thread is answering.
package struct RequestInHand: Sendable {
    package let core: NamespaceCore
    let asking: Asking
    package let position: ResponderPosition
    /// The key of the responder that is answering.
    package let key: String
    /// The responders that `next` must not ask: those that the request had reached when its handler began.
    let reached: [ResponderPosition]

    /// The request as one word, by which another process can ask the next responder within it.
    package var word: String {
        (["\(asking.ticket)", "\(asking.work)", "\(position.raw)"] + reached.map { "\($0.raw)" })
            .joined(separator: ".")
    }

    /// Whether a reply is still wanted.
    ///
    /// It is not wanted once the time of the asking process is over, or that process has taken the request back or
    /// died. If the request can't be looked up, this is true.
    package var isWanted: Bool { (try? isUnwanted()) != true }

    private func isUnwanted() throws(SpaceError) -> Bool {
        try core.read { snapshot throws(SpaceError) in try snapshot.request(asking, of: position) == nil }
    }

    /// Calls `body` as soon as no reply is wanted, unless the returned task is cancelled before.
    package func whenUnwanted(_ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task.detached {
            let ended = try? await core.waits.suspend(
                Awaited.requests(of: core.session.number).interest,
                text: { "requests" },
                until: nil
            ) { (_) throws(SpaceError) in
                try isUnwanted() ? Found(result: true, removed: nil) : nil
            }
            if ended ?? false { body() }
        }
    }
}
