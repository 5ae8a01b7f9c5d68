import TupleCoding

/// The front of a name's queue: decides, row after row, which rows may hold at the same time.
///
/// The first row that may not hold ends the front, so no row overtakes another.
package struct TurnFront {
    private var holders = 0
    private var isShared = true
    private var weight = 0
    private var isClosed = false

    package init() {}

    package mutating func admits(_ row: PlaceRow) -> Bool {
        guard !isClosed else { return false }
        let isAdmitted =
            switch row.kind {
            case .lock: holders == 0 || isShared && row.isShared
            case .semaphore: weight + Int(row.weight) <= row.details.permits
            default: holders == 0
            }
        isClosed = !isAdmitted
        holders += 1
        isShared = isShared && row.isShared
        weight += Int(row.weight)
        return isAdmitted
    }
}

extension Value {
    /// The number of permits in a semaphore's row, or the number of parties in a barrier's.
    package var permits: Int { if case .int(let count) = self { count } else { 0 } }
}
