/// The rules of a queue's takers: each taker that holds has an item of its own, so takers don't exclude each other.
struct TakerRules: QueueRules {
    /// Whether the return of an item counts as a delivery; it does not if no worker got to see the item.
    ///
    /// If the taker has not looked at its row (`PlaceRow.isUnseen`), the return never counts.
    var wasDelivered = true

    func hasEnded(_ row: PlaceRow, of name: String, in scope: WriteScope) throws(SpaceError) {
        guard row.isHolding else { return }
        try scope.queues.returnItem(row, of: name, wasDelivered: wasDelivered && !row.isUnseen)
    }

    func settle(_ name: String, in scope: WriteScope) throws(SpaceError) { try scope.queues.settle(name) }

    func settle(_ name: String, seenBy ticket: UInt64, in scope: WriteScope) throws(SpaceError) {
        try scope.queues.settle(name, seenBy: ticket)
    }
}

extension Place {
    /// The place of a taker that has not seen its item: if it ends, that does not count as a delivery.
    var unseen: Place {
        var place = self
        place.rules = TakerRules(wasDelivered: false)
        return place
    }
}
