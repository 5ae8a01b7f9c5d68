import TupleCoding

/// The front of a name's queue: decides, row after row, which rows may hold at the same time.
///
/// The first row that may not hold ends the front, so no row overtakes another. There are two exceptions. At a barrier,
/// all waiters are let through together once they are enough. At a queue, each holder has an item of its own, so
/// holders do not exclude each other.
package struct HoldFront {
    private var holders = 0
    private var isShared = true
    private var weight = 0
    private var isClosed = false
    private var waiting: [HoldRow] = []

    package init() {}

    package mutating func admits(_ row: HoldRow) -> Bool {
        if row.kind == .barrier || row.kind == .queue {
            if !row.isHolding { waiting.append(row) }
            return row.isHolding
        }
        guard !isClosed else { return false }
        let isAdmitted =
            switch row.kind {
            case .lock: holders == 0 || isShared && row.isShared
            case .semaphore: weight + Int(row.weight) <= row.details.permits
            case .responder, .request: true
            default: holders == 0
            }
        isClosed = !isAdmitted
        holders += 1
        isShared = isShared && row.isShared
        weight += Int(row.weight)
        return isAdmitted
    }

    /// The waiters for a queue's items, in turn.
    var takers: [HoldRow] { waiting.first?.kind == .queue ? waiting : [] }

    /// The waiters at a barrier that can be let through, in whole groups of its parties.
    package var complete: [HoldRow] {
        guard waiting.first?.kind == .barrier, let parties = waiting.first?.details.permits, parties > 0 else {
            return []
        }
        return Array(waiting.prefix(waiting.count / parties * parties))
    }
}
