import SpaceSystem

/// The attempts of a process that waits to enter a queue, until one succeeds.
///
/// The machines that share a namespace may not agree for a while, for example until their store has another leader. After
/// its member's end, the machine may take no part for a while. In both cases the process tries again.
struct QueueEntry {
    enum Attempt {
        /// The process has entered the queue; or it would have to wait, and its time has passed.
        case answered(PlaceAnswer)
        case later(Sleep)
    }

    /// Why the last attempt has failed; `nil`: it has not.
    private var hindrance: SpaceError?
    /// The place of an attempt whose outcome is unknown.
    private(set) var uncertain: Place?

    /// Whether the last attempt has failed.
    var hasFailed: Bool { hindrance != nil }

    /// Tries to enter, once.
    ///
    /// - Parameters:
    ///   - request: The queue, and what is asked for.
    ///   - core: The namespace.
    ///   - deadline: Until when the process waits; `nil`: for ever.
    ///   - hasLostPlace: Whether the process has waited already, and its place is gone with its machine's member.
    /// - Returns: Whether it has entered, or what comes next.
    /// - Throws: What `enter` throws, if to try again would not help or the time has passed.
    mutating func attempt(
        _ request: PlaceRequest,
        in core: NamespaceCore,
        until deadline: MonotonicInstant?,
        hasLostPlace: Bool
    ) throws(SpaceError) -> Attempt {
        let mayWait = deadline?.hasPassed != true
        if !mayWait, let hindrance { throw hindrance }
        do throws(SpaceError) {
            let answer = try core.places.enter(
                request,
                waits: mayWait,
                patience: mayWait ? deadline.map { max($0.remaining, Limits.tick) } : nil,
                uncertain: &uncertain
            )
            hindrance = nil
            return .answered(answer)
        } catch {
            let isUncertain = error.code == .outcomeUnknown && uncertain != nil
            let mayPass = error.isOfOtherMembers || isUncertain || hasLostPlace && error.mayPass
            guard mayWait, mayPass else { throw error }
            hindrance = error
            let next = MonotonicInstant.now.advanced(by: Limits.tick)
            return .later(
                Sleep(
                    Interest(object: request.name),
                    text: request.kind.text(ofWaitAt: request.name),
                    until: deadline.map { min($0, next) } ?? next
                )
            )
        }
    }
}
