/// All responders to a name, in the order in which they are asked.
package struct ResponderStack {
    package private(set) var rows: [ResponderRow] = []

    package init(_ rows: [ResponderRow]) { self.rows = rows.sorted { $0.position > $1.position } }

    /// The first responder to ask below a position, apart from those that were reached before.
    func top(below limit: ResponderPosition = .top, except reached: [ResponderPosition] = []) -> ResponderRow? {
        rows.first { $0.position < limit && !$0.isRetired && !reached.contains($0.position) }
    }

    /// Whether a responder still has its row.
    func has(_ position: ResponderPosition) -> Bool { rows.contains { $0.position == position } }

    /// The responder that has a request: the one it was put to, or, once that one has gone, the next one below.
    ///
    /// So the death of a responder needs no write. No responder is asked twice, because the limit `below` only ever
    /// falls.
    package func addressee(of request: RequestRow) -> ResponderRow? {
        rows.first { $0.position == request.at } ?? top(below: request.below, except: request.reached)
    }

    /// The positions of a list that are still on the stack; a responder that has left is not asked again, so its
    /// position need not be kept.
    func present(_ positions: [ResponderPosition]) -> [ResponderPosition] {
        rows.map(\.position).filter { positions.contains($0) }
    }
}
