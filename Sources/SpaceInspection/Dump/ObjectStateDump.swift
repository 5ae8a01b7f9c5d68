/// An object whose state is one value, in a dump.
package struct ObjectStateDump: Sendable {
    package enum State: Sendable, Equatable {
        case counter(Int)
        case latch(count: Int, left: Int)
        case rateLimit(limit: Int, nanoseconds: Int, moments: [Moment])
        /// A semaphore whose number of permits was set.
        case semaphore(permits: Int)
    }

    /// A reserved moment of a rate limit.
    package struct Moment: Sendable, Equatable {
        /// The moment in milliseconds since 1970.
        package let time: Int64
        /// How many permits are reserved at this moment.
        package let count: Int

        package init(time: Int64, count: Int) { (self.time, self.count) = (time, count) }
    }

    package let name: String
    package let state: State

    package init(name: String, state: State) {
        self.name = name
        self.state = state
    }

    package var kind: SharedObjectKind {
        switch state {
        case .counter: .counter
        case .latch: .latch
        case .rateLimit: .rateLimit
        case .semaphore: .semaphore
        }
    }
}

extension ObjectStateDump.State {
    /// The state of an object; `nil` if its details don't fit its kind.
    package init?(_ object: SharedObjectRow, _ clock: NamespaceClock) {
        let numbers = object.details.integers
        switch (object.kind, object.details) {
        case (.counter, .int(let number)): self = .counter(number)
        case (.latch, _) where numbers.count == 2: self = .latch(count: numbers[0], left: numbers[1])
        case (.semaphore, .int(let permits)): self = .semaphore(permits: permits)
        case (.rateLimit, let details):
            guard let moments = RateMoments(details, Int(clock.milliseconds) * RateMoments.tick) else { return nil }
            self = .rateLimit(
                limit: moments.limit,
                nanoseconds: moments.interval,
                moments: moments.moments.map {
                    .init(time: clock.realtime(Int64($0.time / RateMoments.tick)), count: $0.count)
                }
            )
        default: return nil
        }
    }

    private static func areWithin(_ limit: Int, _ counts: [Int]) -> Bool {
        var left = limit
        for count in counts {
            guard count > 0, count <= left else { return false }
            left -= count
        }
        return true
    }

    /// Whether an object of this kind can have this state.
    var isPossible: Bool {
        switch self {
        case .counter: true
        case .latch(let count, let left): count >= 0 && (0...count).contains(left)
        case .semaphore(let permits): (1...Int(UInt32.max)).contains(permits)
        case .rateLimit(let limit, let nanoseconds, let moments):
            limit > 0 && nanoseconds > 0 && .nanoseconds(nanoseconds) <= RateLimit.longestInterval
                && moments.count <= RateMoments.most && Self.areWithin(limit, moments.map(\.count))
        }
    }
}
