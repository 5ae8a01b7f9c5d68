/// A named object of a namespace, as listed for inspection.
public struct SharedObjectInfo: Sendable, Hashable {
    /// The object's name.
    public var name: String { named.text }
    package let named: Name
    /// The kind of object.
    public let kind: SharedObjectKind
    /// The name of the type of an ordered set's elements or of a dictionary's values; `nil` for other objects.
    public let elementType: String?
    /// The number of elements of an ordered set, entries of a dictionary or items of a queue; `nil` if they can't be
    /// counted.
    public let count: Int?
    /// The numbers of a queue, and whether it is paused; `nil` for other objects.
    public let queue: WorkQueueInfo?
}

/// What counts for a queue as a whole, for all processes.
public struct WorkQueueInfo: Sendable, Hashable {
    /// The number of its items in each state; `nil` if they can't be counted.
    public let items: QueueCounts?
    /// The number of deliveries after which a returning item is buried; 0: never.
    public let deliveries: Int
    /// The greatest number of items that are not buried; 0: no bound.
    public let bound: Int
    /// Whether workers get nothing now.
    public let isPaused: Bool
    /// When the pause ends by itself, in milliseconds since 1970; `nil` if there is none, or if it lasts until
    /// ``WorkQueue/resume()``.
    public let pausedUntil: Int64?
}

extension WorkQueueInfo {
    init(_ items: QueueCounts?, _ settings: QueueSettings, _ clock: NamespaceClock) {
        self.items = items
        deliveries = settings.deliveries
        bound = settings.bound
        isPaused = settings.isPaused(clock.milliseconds)
        pausedUntil = isPaused && settings.pausedUntil != .max ? clock.realtime(settings.pausedUntil) : nil
    }
}
