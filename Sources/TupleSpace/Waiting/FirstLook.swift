import SpaceSystem

/// The beginning of a wait: the look that most waits end with, and what it leaves to the loop.
@usableFromInline
struct FirstLook {
    /// When the wait ends; `nil`: only when something is found.
    let deadline: MonotonicInstant?
    /// Whether the look was made.
    private(set) var isMade = false
    /// Why the look could not be carried out; that does not end the wait.
    var hindrance: SpaceError?

    @usableFromInline
    init(_ wait: Wait) { deadline = wait.deadline }

    init(until deadline: MonotonicInstant?) { self.deadline = deadline }

    /// Looks.
    @inline(__always)
    mutating func make<R>(
        in core: NamespaceCore,
        _ look: (inout Aim) throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> Found<R>? {
        isMade = true
        var aim = Aim()
        return try core.waits.lookIfPossible(&hindrance, &aim, look)
    }

    /// Whether the time has passed; the error of the look is thrown if it has, and the look could not be carried out.
    @inline(__always)
    func isOver() throws(SpaceError) -> Bool { try deadline.isOver(after: hindrance) }
}

extension MonotonicInstant? {
    /// Whether a wait is over at this moment; if it is, and its last look was hindered, that look's error is thrown.
    @inline(__always)
    func isOver(after hindrance: SpaceError?) throws(SpaceError) -> Bool {
        guard let self, self.hasPassed else { return false }
        if let hindrance { throw hindrance }
        return true
    }
}

extension Waits {
    /// Looks; if a look is not possible at this moment, the result is `nil` and `hindrance` says why.
    func lookIfPossible<R>(
        _ hindrance: inout SpaceError?,
        _ aim: inout Aim,
        _ look: (inout Aim) throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> Found<R>? {
        do throws(SpaceError) {
            let found = try look(&aim)
            hindrance = nil
            return found
        } catch {
            // A stopped holder is reported at once: it may stay stopped.
            guard error.code == .holderBusy || error.code == .readersExhausted || error.isOfOtherMembers else {
                throw error
            }
            hindrance = error
            return nil
        }
    }
}
