import TupleCoding

/// All responders of a name, the one that is asked first in front.
package struct ResponderStack {
    package private(set) var rows: [ResponderRow] = []

    package init(_ rows: [ResponderRow]) { self.rows = rows.sorted { $0.position > $1.position } }

    /// Who is asked first, of those below a position who were not reached before.
    func top(below limit: ResponderPosition = .top, except reached: [ResponderPosition] = []) -> ResponderRow? {
        rows.first { $0.position < limit && !$0.isRetired && !reached.contains($0.position) }
    }

    /// Whose a request is: the one it was put to, and once that one has gone, the next below.
    ///
    /// So nothing is written when a responder dies, and nobody is asked twice: the limit only ever falls.
    package func addressee(of request: RequestRow) -> ResponderRow? {
        rows.first { $0.position == request.at } ?? top(below: request.below, except: request.reached)
    }

    /// Those of a list that are there: who has left is not asked again, and need not be remembered.
    func present(_ positions: [ResponderPosition]) -> [ResponderPosition] {
        rows.map(\.position).filter { positions.contains($0) }
    }
}
