import Synchronization
import TupleCoding

/// Many observations, held together: they end when the bag goes.
///
/// ```swift
/// let bag = ObservationBag()
/// bag.add(try jobs.observe("progress") { change in … })
/// bag.add(try jobs.observe("status") { change in … }, named: "status")
/// ```
public final class ObservationBag: Sendable {
    private let contents = Mutex(Contents())

    private struct Contents {
        var unnamed: [ObservationToken] = []
        var named: [Name: ObservationToken] = [:]

        var all: [ObservationToken] { unnamed + named.values }
    }

    /// Makes an empty bag.
    public init() {}

    deinit { stopObserving() }

    /// Adds an observation.
    public func add(_ token: ObservationToken) {
        contents.withLock { contents in
            // Those that have ended by themselves are not collected for ever.
            if contents.unnamed.count == contents.unnamed.capacity { contents.unnamed.removeAll { !$0.isActive } }
            contents.unnamed.append(token)
        }
    }

    /// Adds an observation under a name; one that has the name already ends.
    public func add(_ token: ObservationToken, named name: String) {
        // The old one may go with this: outside the lock, since its end may run anything.
        let old = contents.withLock { $0.named.updateValue(token, forKey: Name(name)) }
        if let old, old !== token { old.cancel() }
    }

    /// Ends the observation that was added under a name.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(named name: String) -> Bool {
        let old = contents.withLock { $0.named.removeValue(forKey: Name(name)) }
        old?.cancel()
        return old != nil
    }

    /// Ends all observations in the bag.
    public func stopObserving() {
        let old = contents.withLock { contents in
            defer { contents = Contents() }
            return contents.all
        }
        for token in old { token.cancel() }
    }

    /// How many observations in the bag go on.
    public var count: Int { contents.withLock { $0.all }.count(where: \.isActive) }
}
