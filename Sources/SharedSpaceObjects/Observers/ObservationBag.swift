import Synchronization

/// A collection of observations and responders that end when the bag is released.
///
/// ```swift
/// let bag = ObservationBag()
/// bag.add(try jobs.observe("progress") { change in … })
/// bag.add(try jobs.observe("status") { change in … }, named: "status")
/// bag.add(try jobs.respond(to: "ping") { … })
/// ```
public final class ObservationBag: Sendable {
    private let contents = Mutex(Contents())

    private struct Contents {
        var unnamed: [any SpaceToken] = []
        var named: [Name: any SpaceToken] = [:]

        var all: [any SpaceToken] { unnamed + named.values }
    }

    /// Makes an empty bag.
    public init() {}

    deinit { stopObserving() }

    /// Adds an observation or a responder.
    public func add(_ token: any SpaceToken) {
        contents.withLock { contents in
            // Tokens of what has ended by itself must not accumulate.
            if contents.unnamed.count == contents.unnamed.capacity { contents.unnamed.removeAll { !$0.isActive } }
            contents.unnamed.append(token)
        }
    }

    /// Adds an observation or a responder under a name, and ends the one that had the name before.
    public func add(_ token: any SpaceToken, named name: String) {
        // The old token may be released here, outside the lock: its end can run any code.
        let old = contents.withLock { contents in
            defer { contents.named[Name(name)] = token }
            return contents.named[Name(name)]
        }
        if let old, old !== token { old.cancel() }
    }

    /// Ends the observation or the responder that was added under a name.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(named name: String) -> Bool {
        let old = contents.withLock { $0.named.removeValue(forKey: Name(name)) }
        old?.cancel()
        return old != nil
    }

    /// Ends all observations and responders in the bag.
    public func stopObserving() {
        let old = contents.withLock { contents in
            defer { contents = Contents() }
            return contents.all
        }
        for token in old { token.cancel() }
    }

    /// The number of observations and responders in the bag that are still active.
    public var count: Int { contents.withLock { $0.all }.count(where: \.isActive) }
}
