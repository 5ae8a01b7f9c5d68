/// What a place wants of its name.
package struct TurnWish: Hashable, Sendable {
    package let kind: SharedObjectKind
    let isShared: Bool
    let weight: Int
    /// The number of permits of a semaphore.
    let permits: Int

    /// What a place wants; `permits` is the number of permits that was set, or `nil` if the place's own counts.
    package init(_ row: PlaceRow, permits: Int?) {
        kind = row.kind
        isShared = row.isShared
        weight = Int(row.weight)
        self.permits = row.kind == .semaphore ? permits ?? row.details.permits : 0
    }

    package init(kind: SharedObjectKind, isShared: Bool = false, weight: Int = 1, permits: Int = 0) {
        self.kind = kind
        self.isShared = isShared
        self.weight = weight
        self.permits = permits
    }
}

/// The front of a name's queue: decides, row after row, which rows may hold at the same time.
///
/// The first row that may not hold ends the front, so no row overtakes another. Only a row that waits for more permits
/// than there are is passed over.
package struct TurnFront {
    private var holders = 0
    private var isShared = true
    private var weight = 0
    /// Whether a row was not admitted, and not passed over either: then no other row is.
    private(set) var isClosed = false

    package init() {}

    package mutating func admits(_ row: PlaceRow, permits: Int?) -> Bool {
        let wish = TurnWish(row, permits: permits)
        return row.isHolding || !wish.isBeyondAll ? admits(wish) : false
    }

    package mutating func admits(_ wish: TurnWish) -> Bool {
        guard !isClosed else { return false }
        let isAdmitted = wouldAdmit(wish)
        isClosed = !isAdmitted
        holders += 1
        isShared = isShared && wish.isShared
        weight += wish.weight
        return isAdmitted
    }

    /// Whether a row that came next might hold.
    func wouldAdmit(_ wish: TurnWish) -> Bool {
        guard !isClosed else { return false }
        return switch wish.kind {
        case .lock: holders == 0 || isShared && wish.isShared
        case .semaphore: weight + wish.weight <= wish.permits
        default: holders == 0
        }
    }
}

extension Value {
    /// The number of permits in a semaphore's row, or the number of parties in a barrier's.
    package var permits: Int { if case .int(let count) = self { count } else { 0 } }
}
