import LMDB
import TupleCoding

/// The front of a name's queue: says of one row after the other whether it may hold beside those before it.
///
/// The first that may not ends it: nobody is overtaken. A barrier is the exception: there all who wait are let through
/// together, when they are enough; and at a queue, where whoever holds has an item of his own.
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

    /// Those who wait for a queue's items, in turn.
    var takers: [HoldRow] { waiting.first?.kind == .queue ? waiting : [] }

    /// Those who wait at a barrier, so far as they are enough.
    package var complete: [HoldRow] {
        guard waiting.first?.kind == .barrier, let parties = waiting.first?.details.permits, parties > 0 else {
            return []
        }
        return Array(waiting.prefix(waiting.count / parties * parties))
    }
}
